//! What destinations send by themselves.
use super::NicSet;
use crate::core::NEVER;
use crate::core::fabric::Fabric;
use crate::core::packet::{Birth, Packet};
use crate::protocol::{Prompt, Source};

impl<S: Source> NicSet<S> {
    /// Sends what a destination sends by itself by now, and notes when it is to be asked again.
    #[inline]
    pub(super) fn prompt(&mut self, fabric: &mut Fabric, endpoint: u32) {
        if !self.source.prompts() {
            return;
        }
        let at = loop {
            match self.source.prompt(&mut self.sinks[endpoint], fabric.now) {
                Prompt::Send(to, reply) => {
                    let mut packet = Packet::default();
                    packet.hot.dst = to;
                    packet.hot.set_size(reply.kind, self.plan.control_flits);
                    packet.cold.src = fabric.share.endpoints[endpoint as usize];
                    packet.cold.birth = Birth::new(fabric.now, 0);
                    packet.notes.words = reply.words;
                    self.route_at_source(fabric, None, &mut packet, reply.class);
                    self.send_control(fabric, endpoint, packet);
                }
                Prompt::At(at) => break at,
                Prompt::Wait => break NEVER,
            }
        };
        self.nodes[endpoint].prompt_at = at;
        if at != NEVER {
            fabric.wake(fabric.ports + endpoint, at);
        }
    }

    /// A destination is asked at the time that it named, not when the channel is free: what it sends takes its place then.
    #[inline]
    pub(super) fn arm_prompt(&self, fabric: &mut Fabric, endpoint: u32) {
        if self.source.prompts() && self.nodes[endpoint].prompt_at != NEVER {
            fabric.wake(fabric.ports + endpoint, self.nodes[endpoint].prompt_at);
        }
    }
}
