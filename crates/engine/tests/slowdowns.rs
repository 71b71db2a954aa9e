//! How many times as long as in the empty network messages take.
use crate::common::*;
use crate::results::{NO_ACKS, one};

#[test]
fn slowdown_is_over_the_empty_network() {
    let text = |window: &str| {
        format!(
            "{NO_ACKS}[[traffic]]\nname = \"t\"\npattern = \"hotspot\"\nsources = [1, 2, 3, 4]\ndestinations = [0]\n\
             process = \"one-shot\"\nmessage = \"100 flits\"\n[run]\nwarmup = \"{window}\"\nduration = \"10 us\"\n[record]\nmessages = true\n"
        )
    };
    let output = one("kind = \"none\"", &text("0 us"));
    let empty = reals(&output, "messages", "zero_load_ns");
    assert_eq!(empty, [empty[0]; 4]);
    let told = |key: &str| number(&output, "t", &format!("message_slowdown.{key}"));
    let mut each: Vec<f64> =
        reals(&output, "messages", "latency_ns").iter().map(|took| took / empty[0]).collect();
    each.sort_by(f64::total_cmp);
    let sum: f64 = each.iter().sum();
    assert_eq!((told("mean"), told("p50"), told("max")), (sum / 4.0, each[1], each[3]));
    assert!(output.summary["classes"]["t"]["message_slowdown"]["p95"].is_null(), "of four it is the largest");
    // Packets take turns: the four end together, after four times the data, of 1 ns a flit.
    assert!((each[3] - (empty[0] + 300.0) / empty[0]).abs() < 1e-9, "{each:?} {empty:?}");
    // What was created before the window does not count.
    let later = one("kind = \"none\"", &text("1 us"));
    assert!(later.summary["classes"]["t"]["message_slowdown"]["mean"].is_null());
}

/// On one way the last packet stays behind the others; on a way of its own a short one, which is stored for less time, overtakes them.
#[test]
fn a_short_last_packet_may_overtake_those_that_are_stored_and_forwarded() {
    let text = "topology = { kind = \"fat-tree\", levels = 3, arity = 4 }\nrouting = \"nca\"\n\
                packet = { flit = \"64 B\", max = \"4 KiB\" }\nlink = { bandwidth = \"400 Gb/s\", latency = \"20 ns\" }\n\
                switch = { kind = \"cioq\", forwarding = \"store-and-forward\" }\n\
                [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 63]]\nprocess = \"one-shot\"\nmessage = \"10 kB\"\n\
                [run]\nwarmup = \"0 us\"\nduration = \"100 us\"\n[record]\nmessages = true\n";
    let slowdown = |up: &str| {
        let output = run_with(text, &[("routing", &format!("{{ kind = \"nca\", up = \"{up}\" }}"))]);
        number(&output, "t", "message_slowdown.mean")
    };
    assert_eq!(slowdown("deterministic"), 1.0);
    assert!((slowdown("random") - 693.44 / 730.56).abs() < 1e-12);
}

/// Of two lengths each has its slowdowns; of many, those from a power of two to the next are together.
#[test]
fn slowdowns_are_told_by_length() {
    let text = |message: &str| {
        format!(
            "{NO_ACKS}[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.3\nmessage = {message}\n\
             [run]\nwarmup = \"5 us\"\nduration = \"40 us\"\n[record]\nmessages = true\n"
        )
    };
    let output = one(
        "kind = \"none\"",
        &text("{ sizes = [\"4 flits\", \"50 flits\"], shares = [0.5, 0.5], by = \"messages\" }"),
    );
    assert_eq!(ints(&output, "slowdowns", "flits_from"), [4, 50, 4, 50]);
    assert_eq!(ints(&output, "slowdowns", "flits_to"), [4, 50, 4, 50]);
    let created = reals(&output, "messages", "created_ns").iter();
    let took =
        reals(&output, "messages", "latency_ns").iter().zip(reals(&output, "messages", "zero_load_ns"));
    let all = created.zip(ints(&output, "messages", "flits")).zip(took);
    let mut short: Vec<f64> = all
        .filter(|((created, flits), _)| **flits == 4 && (5_000.0..45_000.0).contains(*created))
        .map(|(_, (took, empty))| took / empty)
        .collect();
    short.sort_by(f64::total_cmp);
    let first = |name: &str| reals(&output, "slowdowns", name)[0];
    assert_eq!(ints(&output, "slowdowns", "messages")[0], short.len() as i64);
    assert!((first("mean") - short.iter().sum::<f64>() / short.len() as f64).abs() < 1e-9);
    let rank = |share: f64| short[(share * short.len() as f64).ceil() as usize - 1];
    assert_eq!([first("p50"), first("p99"), first("max")], [rank(0.5), rank(0.99), short[short.len() - 1]]);
    let output = one("kind = \"none\"", &text("{ from = \"1 flit\", to = \"40 flits\", step = \"1 flit\" }"));
    assert_eq!(ints(&output, "slowdowns", "flits_from")[..6], [1, 2, 4, 8, 16, 32]);
    assert_eq!(ints(&output, "slowdowns", "flits_to")[..6], [1, 3, 7, 15, 31, 63]);
}

/// Links of half the host's rate, over four of which packets spread, or all go over one: the least that the channels allow is the time
/// of the host's.
#[test]
fn no_routing_on_minimal_ways_is_faster_than_the_empty_network() {
    for up in ["random", "least-loaded", "deterministic"] {
        let text = format!(
            "topology = {{ kind = \"fat-tree\", levels = 2, arity = 4 }}\nrouting = {{ kind = \"nca\", up = \"{up}\" }}\n\
             endpoint = {{ acknowledge = false }}\n\
             link = {{ bandwidth = {{ host = \"200 Gb/s\", level1 = \"100 Gb/s\" }}, latency = \"20 ns\" }}\n\
             [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 15]]\nprocess = \"one-shot\"\nmessage = \"480 flits\"\n\
             [run]\nwarmup = \"0 us\"\nduration = \"2 us\"\n[record]\nmessages = true\n"
        );
        let output = run(&text);
        // 480 flits of 0.5 ns and four channels of 20 ns.
        let empty = reals(&output, "messages", "zero_load_ns")[0];
        assert!((empty - 320.0).abs() < 3.0, "{empty}");
        let slowdown = number(&output, "t", "message_slowdown.max");
        let most = if up == "deterministic" { 1.8 } else { 1.5 };
        assert!((1.0..most).contains(&slowdown), "{up}: {slowdown}");
    }
}

/// Over one global link of an eighth of the host's rate; Valiant's packets go over two, through all groups.
#[test]
fn longer_ways_may_be_faster_past_slow_links() {
    let slowdown = |routing: &str| {
        let text = format!(
            "topology = {{ kind = \"dragonfly\", p = 2, a = 4, h = 2, groups = 9 }}\nrouting = {{ kind = \"{routing}\" }}\n\
             endpoint = {{ acknowledge = false }}\n\
             link = {{ bandwidth = {{ host = \"200 Gb/s\", local = \"200 Gb/s\", global = \"25 Gb/s\" }} }}\n\
             [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 70]]\nprocess = \"one-shot\"\nmessage = \"4800 flits\"\n\
             [run]\nwarmup = \"0 us\"\nduration = \"60 us\"\n[record]\nmessages = true\n"
        );
        number(&run(&text), "t", "message_slowdown.max")
    };
    assert_eq!(slowdown("minimal"), 1.0);
    let valiant = slowdown("valiant");
    assert!((0.125..0.25).contains(&valiant), "{valiant}");
}

/// Two switches side by side between two others, one near and one far: where the destination alone chooses, each endpoint is near or far, and
/// a message that goes alone takes what is told of the empty network, whichever is first.
#[test]
fn the_empty_network_is_told_by_destination_where_ways_depend_on_it() {
    let network = "topology = { kind = \"file\", text = \"host h0 h1 h2 h3\\nh0 a\\nh1 a\\nh2 b\\nh3 b\\n\
        a s1 100Gb/s 10ns\\ns1 b 100Gb/s 10ns\\na s2 100Gb/s 1us\\ns2 b 100Gb/s 1us\" }\n\
        link = { bandwidth = \"100 Gb/s\", latency = \"10 ns\" }\nrouting = { kind = \"shortest\", choose = \"by-destination\" }\n\
        endpoint = { acknowledge = false }\n";
    let all: Vec<(u32, u32)> =
        (0..4).flat_map(|from| (0..4).filter(move |&to| to != from).map(move |to| (from, to))).collect();
    for order in [all.clone(), all.iter().copied().rev().collect()] {
        let class = |(at, (from, to)): (usize, &(u32, u32))| {
            format!(
                "[[traffic]]\nname = \"c{at}\"\npattern = \"list\"\npairs = [[{from}, {to}]]\nshare = true\nprocess = \"one-shot\"\n\
                 message = \"24 flits\"\nstart = \"{} us\"\n",
                10 * at
            )
        };
        let classes: String = order.iter().enumerate().map(class).collect();
        let text = format!(
            "{network}{classes}[run]\nwarmup = \"0 us\"\nduration = \"150 us\"\n[record]\nmessages = true\n"
        );
        let output = run(&text);
        let took = reals(&output, "messages", "latency_ns");
        assert_eq!(took.len(), all.len());
        assert_eq!(took, reals(&output, "messages", "zero_load_ns"));
        let far = took.iter().filter(|ns| **ns > 1000.0).count();
        assert_eq!(far, 4, "{took:?}");
        let facts = tailback_engine::run::describe(&read(&text)).unwrap();
        let row = facts["zero_load_latency_ns"].as_array().unwrap().last().unwrap();
        let said = ["min", "mean", "max"].map(|key| row[key].as_f64().unwrap());
        let least = took.iter().copied().fold(f64::INFINITY, f64::min);
        let most = took.iter().copied().fold(0.0, f64::max);
        let mean = took.iter().sum::<f64>() / took.len() as f64;
        assert_eq!([said[0], said[2]], [least, most]);
        assert!((said[1] - mean).abs() < 1e-9, "{row} {mean}");
    }
}
