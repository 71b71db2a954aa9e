//! What is said of a scenario before it runs agrees with what its run measures.
use serde_json::Value;
use tailback_engine::run::{describe, run};
use tailback_engine::scenario::Scenario;

/// Small networks with links of unequal length and rate. Minimal ways are single: the packets of a message that may go
/// several ways are faster than those of one that goes one way.
const NETWORKS: [&str; 4] = [
    "topology = { kind = 'single-switch', endpoints = 3 }\nlink = { host = '7 ns' }",
    "topology = { kind = 'dragonfly', p = 1, a = 2, h = 1, groups = 3 }
     link = { host = '5 ns', local = '50 ns', global = '1 us' }",
    "topology = { kind = 'fat-tree', levels = 2, arity = 2, taper = 2 }
     link = { host = '5 ns', level1 = '30 ns', bandwidth = { host = '100 Gb/s', level1 = '50 Gb/s' } }",
    "topology = { kind = 'fat-tree', levels = 3, arity = 2, taper = 2 }
     link = { latency = '10 ns', bandwidth = { host = '100 Gb/s', level1 = '200 Gb/s', level2 = '400 Gb/s' } }
     switch = { kind = 'cioq', pipeline = '20 ns' }",
];
const SIZES: [u32; 4] = [1, 4, 24, 77];

fn scenario(network: &str, flits: u32, pair: (u32, u32)) -> Scenario {
    let text = format!(
        "{network}\n\
         routing = {{ kind = 'minimal' }}\n\
         run = {{ warmup = '0 us', duration = '1 us', drain = '50 us' }}\n\
         [[traffic]]\nname = 'one'\npattern = 'list'\npairs = [[{}, {}]]\nprocess = 'one-shot'\nmessage = '{flits} flits'\n",
        pair.0, pair.1
    );
    Scenario::parse(&text, &[]).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn measured(network: &str, flits: u32, pair: (u32, u32)) -> f64 {
    let output = run(&scenario(network, flits, pair), &mut |_| true).unwrap();
    output.summary["classes"]["one"]["message_latency_ns"]["mean"].as_f64().unwrap()
}

#[test]
fn the_latency_of_the_empty_network_is_what_single_messages_take() {
    for network in NETWORKS {
        for flits in SIZES {
            let facts = describe(&scenario(network, flits, (0, 1))).unwrap();
            let endpoints = facts["endpoints"].as_u64().unwrap() as u32;
            let others = |from: u32| (0..endpoints).filter(move |&to| to != from).map(move |to| (from, to));
            let times: Vec<f64> =
                (0..endpoints).flat_map(others).map(|pair| measured(network, flits, pair)).collect();
            let row = facts["zero_load_latency_ns"].as_array().unwrap().last().unwrap();
            let said = |key: &str| row[key].as_f64().unwrap();
            assert_eq!(row["flits"], flits);
            assert_eq!(said("min"), times.iter().copied().fold(f64::INFINITY, f64::min), "{network}");
            assert_eq!(said("max"), times.iter().copied().fold(0.0, f64::max), "{network}");
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            assert!((said("mean") - mean).abs() < 1e-6, "{network}: {flits} flits: {row} but {mean}");
        }
    }
}

#[test]
fn the_mean_of_minimal_hops_is_that_of_all_parallel_links() {
    // Two links between every two groups, one of which a packet is given at random.
    let text = "topology = { kind = 'dragonfly', p = 2, a = 3, h = 2, groups = 4 }\n\
                routing = { kind = 'minimal' }\n\
                run = { warmup = '1 us', duration = '400 us', drain = '5 us' }\n\
                [[traffic]]\nname = 'all'\npattern = 'uniform'\nload = 0.1\nmessage = '4 flits'\n";
    let scenario = Scenario::parse(text, &[]).unwrap();
    let said = describe(&scenario).unwrap()["minimal_hops_mean"].as_f64().unwrap();
    let output = run(&scenario, &mut |_| true).unwrap();
    let measured = output.summary["classes"]["all"]["hops_mean"].as_f64().unwrap();
    assert!((said - 3.0).abs() < 1e-9, "{said}");
    assert!((said / measured - 1.0).abs() < 0.01, "{said} {measured}");
}

/// A leaf of 16 endpoints has four links up, of four times the host's rate.
#[test]
fn links_of_higher_rate_count_for_more_channels_of_the_bisection() {
    let text = "topology = { kind = 'xgft', down = [16, 8], up = [4] }\nrouting = { kind = 'nca' }\n\
                link = { bandwidth = { host = '100 Gb/s', level1 = '400 Gb/s' } }\n\
                [[traffic]]\nname = 'all'\npattern = 'uniform'\nload = 0.1\nmessage = '4 flits'\n";
    let cut = |text: &str| describe(&Scenario::parse(text, &[]).unwrap()).unwrap()["bisection"].clone();
    let [fast, slow] = [text, &text.replace("400 Gb/s", "100 Gb/s")].map(cut);
    assert_eq!(fast["links"], slow["links"]);
    assert_eq!([&fast, &slow].map(|cut| cut["channels_per_endpoint"].as_f64().unwrap()), [1.0, 0.25]);
}

#[test]
fn every_list_of_a_description_has_its_rows() {
    let text = "
        topology = { kind = 'dragonfly', p = 2, a = 4, h = 2, groups = 9 }
        routing = { kind = 'par' }
        congestion_control = { kind = 'lhrp' }
        [[traffic]]
        name = 'mixed'
        pattern = 'uniform'
        load = 0.4
        message = { sizes = ['1 flit', '100 flits'], shares = [0.5, 0.5] }";
    let facts = describe(&Scenario::parse(text, &[]).unwrap()).unwrap();
    let rows = |key: &str| facts[key].as_array().unwrap().len();
    assert_eq!((rows("links"), rows("zero_load_latency_ns"), rows("virtual_channels")), (3, 4, 18));
    // Control, speculative, data; 6 levels on local links, 2 on global ones, 1 on host links.
    let used = |class: &str| {
        let all = facts["virtual_channels"].as_array().unwrap().iter();
        all.filter(|row: &&Value| row["input_flits"][class] != 0).count()
    };
    assert_eq!(["host", "local", "global"].map(used), [3, 18, 6]);
    assert_eq!(facts["ports"], 36 * 7);
}

#[test]
fn switches_of_a_dragonfly_without_global_links_are_counted() {
    let told = |groups: u32| {
        let text = format!(
            "topology = {{ kind = 'dragonfly', p = 1, a = 8, h = 4, groups = {groups} }}\nrouting = 'minimal'\n\
             [[traffic]]\npattern = 'uniform'\nload = 0.1"
        );
        describe(&Scenario::parse(&text, &[]).unwrap()).unwrap()["switches_without_global_links"].as_u64()
    };
    // 17 links of a group on its first five switches, four each: three switches have none.
    assert_eq!(told(18), Some(18 * 3));
    // All ports in use; one left over.
    assert_eq!([33, 32].map(told), [None, None]);
}

/// Column by column, then row by row, over links of different rates: 99 ns; the other order takes 97.
#[test]
fn the_zero_load_latency_is_that_of_the_orders_of_the_routing() {
    let text = |order: &str| {
        format!(
            "topology = {{ kind = 'kns', k = 2, n = 2 }}\nlink = {{ bandwidth = {{ host = '100 Gb/s', x = '25 Gb/s', y = '100 Gb/s' }}, latency = '10 ns' }}\n\
             packet = {{ max = '8 flits' }}\nendpoint = {{ acknowledge = false }}\nrouting = {{ kind = 'dor', orders = ['{order}'] }}\n\
             [[traffic]]\nname = 'one'\npattern = 'list'\npairs = [[0, 3]]\nprocess = 'one-shot'\nmessage = '8 flits'\n\
             [run]\nwarmup = '0 us'\nduration = '1 us'\n"
        )
    };
    for (order, expected) in [("xy", 97.0), ("yx", 99.0)] {
        let scenario = Scenario::parse(&text(order), &[]).unwrap();
        let facts = describe(&scenario).unwrap();
        let packet =
            facts["zero_load_latency_ns"].as_array().unwrap().iter().find(|row| row["what"] == "1 packet");
        assert_eq!(facts["zero_load_latency_ways"], "those of the routing");
        let output = run(&scenario, &mut |_| true).unwrap();
        let measured = &output.summary["classes"]["one"]["message_latency_ns"]["mean"];
        assert_eq!((&packet.unwrap()["max"], measured), (&expected.into(), &expected.into()), "{order}");
    }
}

/// Between pods there are more ways than are followed singly: one of them has the weight of all.
#[test]
fn hops_are_a_mean_over_pairs_however_many_ways_they_have() {
    let text = "topology = { kind = 'fat-tree', levels = 3, arity = 10 }\nrouting = 'nca'\n\
                traffic = [{ name = 'u', pattern = 'uniform', load = 0.1, message = '4 flits' }]";
    let facts = describe(&Scenario::parse(text, &[]).unwrap()).unwrap();
    // 9 others at the own switch, 90 in the pod, 900 beyond.
    let mean = (9.0 + 90.0 * 3.0 + 900.0 * 5.0) / 999.0;
    assert!((facts["minimal_hops_mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{facts}");
}

#[test]
fn the_zero_load_latency_of_a_routing_of_longer_ways_is_that_of_the_minimal_ones_and_says_so() {
    let facts = |routing: &str| {
        let network = "topology = { kind = 'dragonfly', p = 1, a = 2, h = 1, groups = 3 }\n\
                       traffic = [{ name = 'u', pattern = 'uniform', load = 0.1, message = '4 flits' }]";
        describe(&Scenario::parse(&format!("{network}\nrouting = {{ kind = '{routing}' }}\n"), &[]).unwrap())
            .unwrap()
    };
    let [minimal, valiant] = ["minimal", "valiant"].map(facts);
    assert_eq!(minimal["zero_load_latency_ns"], valiant["zero_load_latency_ns"]);
    assert_eq!(minimal["zero_load_latency_ways"], "those of the routing");
    assert_eq!(valiant["zero_load_latency_ways"], "minimal ones; the routing may take others");
    let mesh = "topology = { kind = 'mesh', dims = [3, 3] }\nrouting = { kind = 'adaptive' }\n\
                traffic = [{ name = 'u', pattern = 'uniform', load = 0.1, message = '4 flits' }]";
    let adaptive = describe(&Scenario::parse(mesh, &[]).unwrap()).unwrap();
    assert_eq!(adaptive["zero_load_latency_ways"], "those of the routing", "minimal adaptive");
}

#[test]
fn ways_through_hundreds_of_switches_are_described_and_followed() {
    let line = |switches: u32, far: u32| {
        format!(
            "topology = {{ kind = 'mesh', dims = [{switches}] }}\nrouting = {{ kind = 'dor' }}\n\
             [[traffic]]\nname = 'far'\npattern = 'list'\npairs = [[0, {far}]]\nload = 0.1\nmessage = '4 flits'\n\
             [run]\nwarmup = '0 ns'\nduration = '50 us'\n"
        )
    };
    let facts = describe(&Scenario::parse(&line(300, 299), &[]).unwrap()).unwrap();
    assert_eq!(facts["minimal_hops_max"], 300.0);
    assert!(facts["memory_estimate"]["packets_bytes"].as_f64().unwrap() > 0.0);
    let hops = |far: u32| {
        let scenario = Scenario::parse(&line(300, far), &[]).unwrap();
        let output = run(&scenario, &mut |_| true).unwrap();
        assert!(output.summary["classes"]["far"]["messages"].as_u64().unwrap() > 0);
        output.summary["classes"]["far"]["hops_mean"].as_f64()
    };
    // They are counted up to 254; of more, nothing wrong is told.
    assert_eq!([hops(199), hops(253), hops(254), hops(299)], [Some(200.0), Some(254.0), None, None]);
}

#[test]
fn the_horizontal_links_of_paper_saa_are_counted_as_a_tenth_more_ports() {
    let text = "topology = { kind = 'k-ary-n-tree', k = 16, n = 3, horizontal = 2 }\n\
                routing = { kind = 'nca' }\n\
                [[traffic]]\nname = 'all'\npattern = 'uniform'\nload = 0.1\nmessage = '1 flit'\n";
    let facts = describe(&Scenario::parse(text, &[]).unwrap()).unwrap();
    // "it increases the total number of ports by a mere 10%" (section 4.2).
    let added = facts["horizontal_ports_percent_of_others"].as_f64().unwrap();
    assert!((added - 100.0 * 1980.0 / 20480.0).abs() < 1e-9, "{added}");
    assert_eq!(facts["ports"], 20480 + 1980);
}

/// With them given, a run is the same as without.
#[test]
fn defaults_that_depend_on_the_network_are_those_of_the_run() {
    let text = |scheme: &str| {
        format!(
            "topology = {{ kind = 'dragonfly', p = 2, a = 4, h = 2, groups = 9 }}\nrouting = {{ kind = 'par' }}\n[congestion_control]\n{scheme}\n\
             [[traffic]]\nname = 'hot'\npattern = 'hotspot'\nsources = 12\ndestinations = 1\nload = 0.5\nmessage = '24 flits'\n\
             [run]\nwarmup = '0 us'\nduration = '10 us'\ndrain = '0 us'\n"
        )
    };
    for (kind, keys) in [
        ("lhrp", vec!["threshold"]),
        ("lhrp+srp", vec!["threshold"]),
        ("ecn", vec!["decrement", "increment", "timer"]),
        ("codes-cc", vec!["buffer"]),
        ("srp", vec![]),
    ] {
        let scheme = format!("kind = '{kind}'");
        let plain = text(&scheme);
        let read = |text: &str| Scenario::parse(text, &[]).unwrap_or_else(|problems| panic!("{problems:?}"));
        let described = describe(&read(&plain)).unwrap();
        let chosen = described["congestion_control_default"].as_object().unwrap();
        let mut found: Vec<&String> = chosen.keys().collect();
        found.sort_unstable();
        assert_eq!(found, keys, "{kind}");
        let given: String = chosen.iter().map(|(key, value)| format!("\n{key} = {value}")).collect();
        let same = text(&format!("{scheme}{given}"));
        let checksum = |text: &str| run(&read(text), &mut |_| true).unwrap().summary["checksum"].clone();
        assert_eq!(checksum(&plain), checksum(&same), "{given}");
    }
}

/// What is drawn, such as the sources of a hot spot, can be looked at before anything runs.
#[test]
fn who_sends_and_who_receives_is_told_by_class() {
    let text = "topology = { kind = 'single-switch', endpoints = 12 }\nrouting = { kind = 'minimal' }\nlink = { host = '7 ns' }\n\
                run = { warmup = '0 us', duration = '5 us' }\nendpoint = { drain_rate = '1 Tb/s' }\nrecord = { pairs = '5 us' }\n\
                [[traffic]]\nname = 'hot'\npattern = 'hotspot'\nsources = 4\ndestinations = 2\nload = 0.4\nmessage = '1 flit'\nshare = true\n\
                [[traffic]]\nname = 'all'\npattern = 'uniform'\nload = 0.1\nmessage = '1 flit'\nshare = true\n"
        .replace("name = 'all'", "name = 'others'");
    let scenario = Scenario::parse(&text, &[]).unwrap_or_else(|problems| panic!("{problems:?}"));
    let facts = describe(&scenario).unwrap();
    let of = |at: usize, key: &str| facts["traffic"][at][key].clone();
    assert_eq!(
        [0, 1].map(|at| (of(at, "role"), of(at, "count"))),
        [("sources".into(), 4.into()), ("destinations".into(), 2.into())]
    );
    assert_eq!(
        [2, 3].map(|at| (of(at, "name"), of(at, "endpoints"))),
        ["others"; 2].map(|name| (name.into(), "all".into()))
    );
    let output = run(&scenario, &mut |_| true).unwrap();
    let table = output.tables.iter().find(|table| table.name == "pairs").unwrap();
    let tailback_engine::report::Column::Text(classes) = &table.columns[0].1 else { panic!("classes") };
    for (at, end) in ["source", "destination"].into_iter().enumerate() {
        let column = table.columns.iter().find(|(name, _)| name == end).unwrap();
        let tailback_engine::report::Column::Int(numbers) = &column.1 else { panic!("{end}") };
        let of_hot =
            classes.iter().zip(numbers).filter(|(class, _)| *class == "hot").map(|(_, number)| *number);
        let seen: std::collections::BTreeSet<i64> = of_hot.collect();
        assert_eq!(of(at, "endpoints"), Value::from(Vec::from_iter(seen)), "{end}");
    }
    let told = tailback_engine::run::remarks(&scenario).unwrap();
    assert!(told.iter().any(|told| told.starts_with("endpoint.drain_rate is 1 Tb/s")), "{told:?}");
}
