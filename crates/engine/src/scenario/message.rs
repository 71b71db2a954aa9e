//! Sizes of messages, and how they are written.
use crate::units::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Message sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "MessageText", into = "MessageText")]
pub enum MessageSize {
    /// All alike: `message = "4 flits"`.
    Fixed(Size),
    /// Each of several sizes with a share: `message = { sizes = ["4 flits", "512 flits"], shares = [0.5, 0.5],
    /// by = "messages" }` (or `by = "volume"`: shares of the data).
    Mix {
        /// The sizes.
        sizes: Vec<Size>,
        /// Their shares, which add up to 1.
        shares: Vec<f64>,
        /// Whether shares count data instead of messages.
        by_volume: bool,
    },
    /// Uniformly distributed in steps: `message = { from = "4 packets", to = "64 packets", step = "1 packet" }`.
    Uniform {
        /// Smallest.
        from: Size,
        /// Largest.
        to: Size,
        /// Step (default: 1 packet if both are whole packets, else 1 flit).
        step: Size,
    },
    /// As a file tells, with a size in bytes in each line and the percentage of messages that are no longer: `message = { path = "sizes.txt" }`.
    /// Whoever calls the engine reads it and hands it in as `text`.
    Distribution {
        /// The file, relative to the scenario's.
        path: String,
        /// What stands in it.
        text: String,
    },
}

impl Default for MessageSize {
    fn default() -> Self {
        MessageSize::Fixed(Size::Packets(1))
    }
}

/// A [`MessageSize`] as it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum MessageText {
    Fixed(Size),
    Mix(Mix),
    Uniform(Uniform),
    Distribution(Distribution),
}

/// Several sizes, each with its share.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mix {
    /// The sizes.
    #[schemars(length(min = 1))]
    sizes: Vec<Size>,
    /// Their shares, which add up to 1.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    shares: Vec<f64>,
    /// What the shares count.
    #[serde(default)]
    by: By,
}

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum By {
    /// Messages.
    #[default]
    Messages,
    /// Data.
    Volume,
}

/// Uniformly distributed sizes.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Uniform {
    /// Smallest.
    from: Size,
    /// Largest.
    to: Size,
    /// Step; without it, 1 packet if both ends are whole packets, else 1 flit.
    #[serde(default)]
    step: Option<Size>,
}

/// A cumulative distribution of sizes, linear between its lines.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Distribution {
    /// A file with a size in bytes in each line, and how much of all messages is not longer: in percent, the last 100, or in parts of 1, the
    /// last 1. Relative to the scenario's. Give this or `text`.
    #[serde(default)]
    path: String,
    /// What stands in such a file.
    #[serde(default)]
    text: String,
}

impl Uniform {
    fn default_step(&self) -> Size {
        match (self.from, self.to) {
            (Size::Packets(_), Size::Packets(_)) => Size::Packets(1),
            _ => Size::Flits(1),
        }
    }
}

impl From<MessageText> for MessageSize {
    fn from(text: MessageText) -> Self {
        match text {
            MessageText::Fixed(size) => MessageSize::Fixed(size),
            MessageText::Mix(Mix { sizes, shares, by }) => {
                MessageSize::Mix { sizes, shares, by_volume: by == By::Volume }
            }
            MessageText::Uniform(uniform) => {
                let step = uniform.step.unwrap_or(uniform.default_step());
                MessageSize::Uniform { from: uniform.from, to: uniform.to, step }
            }
            MessageText::Distribution(Distribution { path, text }) => {
                MessageSize::Distribution { path, text }
            }
        }
    }
}

impl From<MessageSize> for MessageText {
    fn from(size: MessageSize) -> Self {
        match size {
            MessageSize::Fixed(size) => MessageText::Fixed(size),
            MessageSize::Mix { sizes, shares, by_volume } => {
                MessageText::Mix(Mix { sizes, shares, by: if by_volume { By::Volume } else { By::Messages } })
            }
            MessageSize::Uniform { from, to, step } => {
                MessageText::Uniform(Uniform { from, to, step: Some(step) })
            }
            MessageSize::Distribution { path, text } => {
                MessageText::Distribution(Distribution { path, text })
            }
        }
    }
}
