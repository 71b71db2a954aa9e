//! What the 32 bits of a message's tag say in the MPI layer.

/// What a message is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// The data of a short message.
    #[default]
    Eager,
    /// Asks to send the data of a long message.
    Request,
    /// The receive is posted: the data may come.
    Clear,
    /// The data of a long message.
    Data,
}

const KINDS: [Kind; 4] = [Kind::Eager, Kind::Request, Kind::Clear, Kind::Data];

/// Largest tag of a message between two ranks; those above are of collective operations.
pub const TAG_MAX: u16 = 0x7fff;

/// Sequence numbers are counted modulo this.
pub const SEQUENCES: u16 = 1 << 14;

/// A tag: what for (2 bits), the sequence number (14) among the messages of the same sender, receiver and MPI tag, or that of
/// the collective operation, and the MPI tag (16), in which a collective operation has its round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wire {
    pub kind: Kind,
    pub sequence: u16,
    pub tag: u16,
}

impl Wire {
    pub fn pack(self) -> u32 {
        (self.kind as u32) << 30 | (self.sequence as u32 % SEQUENCES as u32) << 16 | self.tag as u32
    }

    pub fn unpack(word: u32) -> Self {
        Self {
            kind: KINDS[(word >> 30) as usize],
            sequence: (word >> 16) as u16 % SEQUENCES,
            tag: word as u16,
        }
    }
}

/// Whether a message of this tag carries data: requests and answers do not.
pub fn carries_data(tag: u32) -> bool {
    matches!(Wire::unpack(tag).kind, Kind::Eager | Kind::Data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for kind in KINDS {
            for (sequence, tag) in [(0, 0), (SEQUENCES - 1, TAG_MAX), (77, u16::MAX)] {
                let wire = Wire { kind, sequence, tag };
                assert_eq!(Wire::unpack(wire.pack()), wire);
            }
        }
    }
}
