//! The messages of a Chakra file, as far as they are read (`et_def.proto` of MLCommons Chakra): what is not listed is passed over.

/// The first message of a file.
#[derive(Clone, PartialEq, prost::Message)]
pub struct GlobalMetadata {
    #[prost(string, tag = "1")]
    pub version: String,
}

/// All others.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, optional, tag = "8")]
    pub inputs: Option<IoInfo>,
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<Attribute>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct IoInfo {
    #[prost(string, tag = "1")]
    pub values: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 28, 29")]
    pub value: Option<Value>,
}

/// Writers disagree on the types of integers, so all are read.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    Bools(Bools),
    #[prost(string, tag = "29")]
    Text(String),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Bools {
    #[prost(bool, repeated, tag = "1")]
    pub values: Vec<bool>,
}

impl Value {
    /// The value as a whole number, if it is one.
    pub fn number(&self) -> Option<i128> {
        Some(match *self {
            Value::Int32(value) | Value::Sint32(value) | Value::Sfixed32(value) => value.into(),
            Value::Int64(value) | Value::Sint64(value) | Value::Sfixed64(value) => value.into(),
            Value::Uint32(value) | Value::Fixed32(value) => value.into(),
            Value::Uint64(value) | Value::Fixed64(value) => value.into(),
            Value::Bool(value) => value.into(),
            Value::Bools(_) | Value::Text(_) => return None,
        })
    }
}
