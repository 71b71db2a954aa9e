//! GOAL as text.
//!
//! ```text
//! num_ranks N
//! rank R {                                          in order, from 0 to N − 1
//!   [label:] calc T [cpu C]
//!   [label:] send Sb to P [tag G] [cpu C] [nic K]
//!   [label:] recv Sb from P [tag G] [cpu C] [nic K]   −1: any rank, any tag
//!   a requires b                                    a begins after b has come to its end
//!   a irequires b                                   a begins after b has begun
//! }
//! ```
//! White space is free; comments are `// …` to the end of the line and `/* … */`.
use super::{By, Mistake, Trace};
use crate::units::shorten;
use crate::workload::mpi::graph::{ANY, Builder, Graph, Label, Node, Tags, What};
use std::collections::HashMap;
use std::sync::Arc;

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A word: a letter, then letters, digits and underscores.
    Word(&'a str),
    /// A number, and whether the letter b follows: then it is a size.
    Number { value: &'a str, is_size: bool },
    /// A character of its own.
    Mark(char),
    /// The file ends.
    End,
}

/// A file that is being read.
struct Reader<'a> {
    text: &'a str,
    /// Offset of the next token, and of the last one that was taken.
    at: usize,
    last: usize,
    /// Whether an operation names a network adapter other than 0.
    has_adapters: bool,
}

pub fn read(text: &str, by: By) -> Result<Trace, Mistake> {
    let mut reader = Reader { text, at: 0, last: 0, has_adapters: false };
    reader.word("num_ranks", "a GOAL file begins with `num_ranks N`")?;
    let ranks: u32 = reader.number("a number of ranks from 1 on")?;
    if ranks == 0 {
        return Err(reader.mistake("a trace of no ranks", "a number of ranks from 1 on"));
    }
    let mut tags = Tags::default();
    let mut graphs = Vec::new();
    for rank in 0..ranks {
        reader.word("rank", &format!("`rank {rank} {{`: the file has num_ranks {ranks}"))?;
        let found: u32 = reader.number(&format!("rank {rank}"))?;
        if found != rank {
            let help = format!("rank {rank}: ranks stand in their order");
            return Err(reader.mistake(format!("unexpected rank {found}"), help));
        }
        reader.mark('{')?;
        let block = Block { reader: &mut reader, tags: &mut tags, rank, ranks, by, labels: HashMap::new() };
        graphs.push(block.read()?);
    }
    match reader.next()? {
        Token::End => {
            tags.name(&mut graphs);
            Ok(Trace { graphs: Arc::new(graphs), has_adapters: reader.has_adapters })
        }
        other => {
            let help = format!("the end of the file: it has num_ranks {ranks}");
            Err(reader.mistake(format!("unexpected {}", shown(other)), help))
        }
    }
}

/// A rank's block.
struct Block<'r, 'a> {
    reader: &'r mut Reader<'a>,
    tags: &'r mut Tags,
    rank: u32,
    ranks: u32,
    by: By<'r>,
    labels: HashMap<&'a str, u32>,
}

impl<'a> Block<'_, 'a> {
    fn read(mut self) -> Result<Graph, Mistake> {
        let mut builder = Builder::default();
        loop {
            let word = match self.reader.next()? {
                Token::Mark('}') => break,
                Token::Word(word) => word,
                other => {
                    let help = "an operation, a dependency, or }";
                    return Err(self.reader.mistake(format!("unexpected {}", shown(other)), help));
                }
            };
            let begin = self.reader.last;
            if self.reader.peek()? == Token::Mark(':') {
                self.reader.next()?;
                let (Token::Word(operation), at) = (self.reader.next()?, self.reader.last) else {
                    return Err(self.reader.mistake("a label without an operation", "calc, send or recv"));
                };
                let node = self.operation(operation, at)?;
                if self.labels.insert(word, builder.add(node)).is_some() {
                    self.reader.last = begin;
                    let message = format!("the label {} stands twice in this rank", shorten(word));
                    return Err(self.reader.mistake(message, "a label of its own for each operation"));
                }
            } else if ["calc", "send", "recv"].contains(&word) {
                let node = self.operation(word, begin)?;
                builder.add(node);
            } else {
                self.dependency(word, begin, &mut builder)?;
            }
        }
        builder.build().map_err(|node| {
            let label = self.labels.iter().find(|(_, number)| **number == node).map(|(label, _)| *label);
            let which =
                label.map_or("an operation".to_string(), |label| format!("the operation {}", shorten(label)));
            let message = format!("{which} of rank {} waits, through others, for itself", self.rank);
            self.reader.mistake(message, "dependencies without a circle")
        })
    }

    fn operation(&mut self, word: &str, at: usize) -> Result<Node, Mistake> {
        let mut node = Node::delay(0);
        match word {
            "calc" => {
                let time: u64 = self.reader.number("a time")?;
                node.what = What::Compute(time.saturating_mul(self.by.unit_ps.into()));
                node.label = Label::AnyTag;
            }
            "send" => {
                let bytes = self.reader.size()?;
                if let Some((why, help)) = self.by.too_long(bytes) {
                    return Err(self.reader.mistake(why, help));
                }
                self.reader.word("to", "to, and a rank")?;
                let to = self.peer(false)?;
                node.what = What::Send { to, bytes };
                node.label = self.tag(to, false)?;
            }
            "recv" => {
                let bytes = self.reader.size()?;
                self.reader.word("from", "from, and a rank")?;
                let from = self.peer(true)?;
                node.what = What::Receive { from, bytes };
                node.label = self.tag(self.rank, true)?;
            }
            other => {
                self.reader.last = at;
                let message = format!("unknown operation {}", shorten(other));
                return Err(self.reader.mistake(message, "calc, send or recv"));
            }
        }
        node.cpu = self.attribute("cpu")?.or(Some(0));
        if word != "calc" {
            let adapter = self.attribute("nic")?;
            self.reader.has_adapters |= adapter.is_some_and(|adapter| adapter > 0);
        }
        Ok(node)
    }

    fn dependency(&mut self, later: &'a str, begin: usize, builder: &mut Builder) -> Result<(), Mistake> {
        let (token, place) = (self.reader.next()?, self.reader.last);
        let at_start = match token {
            Token::Word("requires") => false,
            Token::Word("irequires") => true,
            _ => {
                self.reader.last = begin;
                let message = format!("{} is neither an operation nor a label with `:`", shorten(later));
                let help = "calc, send, recv, a label, or `a requires b`";
                return Err(self.reader.mistake(message, help));
            }
        };
        let earlier = match self.reader.next()? {
            Token::Word(word) => word,
            other => {
                return Err(self.reader.mistake(format!("unexpected {}", shown(other)), "a label"));
            }
        };
        let end = self.reader.last;
        let mut numbers = [0; 2];
        for ((label, at), number) in [(later, begin), (earlier, end)].into_iter().zip(&mut numbers) {
            *number = *self.labels.get(label).ok_or_else(|| {
                self.reader.last = at;
                let message = format!("there is no label {} before this place", shorten(label));
                self.reader.mistake(message, "a label of an operation above, in the same rank")
            })?;
        }
        self.reader.last = place;
        match at_start {
            true => builder.after_start(numbers[0], numbers[1]),
            false => builder.after(numbers[0], numbers[1]),
        }
        Ok(())
    }

    /// A rank, or −1 for any.
    fn peer(&mut self, may_be_any: bool) -> Result<u32, Mistake> {
        let help =
            format!("a rank from 0 to {}{}", self.ranks - 1, if may_be_any { ", or -1 for any" } else { "" });
        let peer: i64 = self.reader.number(&help)?;
        match u32::try_from(peer) {
            Ok(peer) if peer < self.ranks => Ok(peer),
            _ if peer == -1 && may_be_any => Ok(ANY),
            _ => Err(self.reader.mistake(format!("there is no rank {peer}"), help)),
        }
    }

    fn tag(&mut self, receiver: u32, may_be_any: bool) -> Result<Label, Mistake> {
        let help =
            format!("a tag, a whole number of 32 bits{}", if may_be_any { "; or -1 for any" } else { "" });
        let mut tag = 0;
        if self.reader.peek()? == Token::Word("tag") {
            self.reader.next()?;
            tag = self.reader.number::<i64>(&help)?;
        }
        if tag == -1 && may_be_any {
            return Ok(Label::AnyTag);
        }
        let Ok(tag) = u32::try_from(tag) else {
            return Err(self.reader.mistake(format!("the tag {tag} is not possible"), help));
        };
        let most = usize::from(crate::workload::mpi::TAG_MAX) + 1;
        let too_many = || self.reader.mistake(Tags::TOO_MANY, format!("at most {most}"));
        self.tags.number(receiver, tag).ok_or_else(too_many)
    }

    /// An attribute of 8 bits, if it stands here.
    fn attribute(&mut self, name: &'static str) -> Result<Option<u8>, Mistake> {
        if self.reader.peek()? != Token::Word(name) {
            return Ok(None);
        }
        self.reader.next()?;
        self.reader.number("a number from 0 to 255").map(Some)
    }
}

impl<'a> Reader<'a> {
    /// The next token.
    fn next(&mut self) -> Result<Token<'a>, Mistake> {
        self.skip()?;
        self.last = self.at;
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        let length_of = |keep: fn(char) -> bool, from: usize| {
            rest[from..].find(|c: char| !keep(c)).map_or(rest.len(), |end| from + end)
        };
        let (token, length) = if first.is_ascii_alphabetic() {
            let length = length_of(|c| c.is_ascii_alphanumeric() || c == '_', 0);
            (Token::Word(&rest[..length]), length)
        } else if first.is_ascii_digit() || first == '-' {
            let length = length_of(|c| c.is_ascii_digit(), 1);
            let is_size = rest[length..].starts_with('b');
            (Token::Number { value: &rest[..length], is_size }, length + usize::from(is_size))
        } else {
            (Token::Mark(first), first.len_utf8())
        };
        self.at += length;
        Ok(token)
    }

    /// The next token, left where it is.
    fn peek(&mut self) -> Result<Token<'a>, Mistake> {
        let (at, last) = (self.at, self.last);
        let token = self.next();
        (self.at, self.last) = (at, last);
        token
    }

    /// Passes over white space and comments.
    fn skip(&mut self) -> Result<(), Mistake> {
        loop {
            let rest = self.text[self.at..].trim_start();
            self.at = self.text.len() - rest.len();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.last = self.at;
                match comment.find("*/") {
                    Some(end) => self.at += end + 4,
                    None => return Err(self.mistake("this comment has no end", "*/")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self, wanted: &str, help: &str) -> Result<(), Mistake> {
        match self.next()? {
            Token::Word(word) if word == wanted => Ok(()),
            other => Err(self.mistake(format!("unexpected {}", shown(other)), help)),
        }
    }

    fn mark(&mut self, wanted: char) -> Result<(), Mistake> {
        match self.next()? {
            Token::Mark(mark) if mark == wanted => Ok(()),
            other => Err(self.mistake(format!("unexpected {}", shown(other)), wanted.to_string())),
        }
    }

    fn number<T: std::str::FromStr>(&mut self, help: &str) -> Result<T, Mistake> {
        let token = self.next()?;
        let Token::Number { value, is_size: false } = token else {
            return Err(self.mistake(format!("unexpected {}", shown(token)), help));
        };
        value.parse().map_err(|_| self.mistake(format!("{} is not possible", shorten(value)), help))
    }

    fn size(&mut self) -> Result<u64, Mistake> {
        let help = "a size in bytes with the letter b, such as 8b";
        let token = self.next()?;
        let Token::Number { value, is_size: true } = token else {
            return Err(self.mistake(format!("unexpected {}", shown(token)), help));
        };
        value.parse().map_err(|_| self.mistake(format!("{}b is not possible", shorten(value)), help))
    }

    /// A mistake at the last token.
    fn mistake(&self, message: impl Into<String>, help: impl Into<String>) -> Mistake {
        let before = &self.text[..self.last];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        Mistake::new(format!("line {line}, column {column}"), message, help)
    }
}

fn shown(token: Token) -> String {
    match token {
        Token::Word(word) => format!("\"{}\"", shorten(word)),
        Token::Number { value, is_size } => format!("{}{}", shorten(value), if is_size { "b" } else { "" }),
        Token::Mark(mark) => format!("{mark:?}"),
        Token::End => "end of the file".into(),
    }
}
