//! Text form of sizes, until the units bring their own: to be deleted, with its line in `lib.rs`, when they do.
use crate::units::Size;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (n, unit) = match self {
            Self::Bits(n) => (n, "b"),
            Self::Flits(n) => (n, "flits"),
            Self::Packets(n) => (n, "packets"),
        };
        serializer.collect_str(&format_args!("{n} {unit}"))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (n, unit) = text.split_once(' ').ok_or_else(|| D::Error::custom("no unit"))?;
        let n = n.parse().map_err(D::Error::custom)?;
        match unit {
            "b" => Ok(Self::Bits(n)),
            "flit" | "flits" => Ok(Self::Flits(n)),
            "packet" | "packets" => Ok(Self::Packets(n)),
            _ => Err(D::Error::custom("unknown unit")),
        }
    }
}

impl schemars::JsonSchema for Size {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "size" })
    }
}
