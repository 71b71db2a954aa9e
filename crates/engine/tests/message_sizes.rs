//! Message sizes from a file.
use crate::common::*;
use tailback_engine::scenario::Scenario;

const FLIT_BYTES: i64 = 24;

const CDF: &str = "0 0\\n100 50\\n2000 80\\n40000 100\\n";

fn scenario(message: &str, rest: &str) -> String {
    let traffic = format!(
        "[packet]\nflit = \"{FLIT_BYTES} B\"\nmax = \"10 flits\"\n[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.3\nmessage = {message}\n\
         [run]\nwarmup = \"20 us\"\nduration = \"2 ms\"\n{rest}"
    );
    file("kind = \"single-switch\"\nendpoints = 16", "kind = \"minimal\"", "kind = \"none\"", &traffic)
}

#[test]
fn sizes_from_a_file_offer_the_load() {
    let output = run(&scenario(&format!("{{ text = \"{CDF}\" }}"), "[record]\nmessages = true\n"));
    let offered = number(&output, "t", "offered");
    assert!((offered - 0.3).abs() < 0.02, "{offered}");
    let flits = ints(&output, "messages", "flits");
    let bytes = FLIT_BYTES;
    let up_to = |most: i64| {
        flits.iter().filter(|&&flits| flits <= (most + bytes - 1) / bytes).count() as f64 / flits.len() as f64
    };
    for (most, share) in [(100, 0.5), (2000, 0.8), (40000, 1.0)] {
        assert!((up_to(most) - share).abs() < 0.03, "{most} B: {}", up_to(most));
    }
    assert!(flits.iter().all(|&flits| flits > 0));
}

#[test]
fn a_file_of_sizes_is_asked_for_by_its_path() {
    let text = scenario("{ path = \"sizes.txt\" }", "");
    assert_eq!(Scenario::files(&text, &[]), [("traffic.0.message.text".into(), "sizes.txt".into())]);
    assert_eq!(Scenario::path_key("traffic.0.message.text"), "traffic.0.message.path");
    let there = [("traffic.0.message.text".to_string(), format!("\"{CDF}\""))];
    assert_eq!(Scenario::files(&text, &there), []);
    let scenario = Scenario::parse(&text, &there).unwrap();
    assert_eq!(scenario.problems(), []);
}

#[test]
fn mistakes_in_a_file_of_sizes_are_told() {
    for (message, key, part) in [
        (
            "{ path = \"sizes.txt\" }",
            "traffic.t.message.path",
            "sizes.txt, line 1: the file is empty, or was not read",
        ),
        ("{}", "traffic.t.message.text", "no sizes are given"),
        ("{ text = \"0 0\\n10 50\\n\" }", "traffic.t.message.text", "line 2: the last share is 50"),
        ("{ path = \"s.txt\", text = \"0 0\\n1 x\\n\" }", "traffic.t.message.path", "s.txt, line 2"),
        ("{ text = \"0 0\\n1e14 1\\n\" }", "traffic.t.message.text", "a message has up to"),
        ("{ text = \"0 0\\n10 1\\n\", from = \"1 flit\" }", "traffic.t.message", ""),
    ] {
        let told = match Scenario::parse(&scenario(message, ""), &[]) {
            Ok(scenario) => told(&scenario.problems()),
            Err(problems) => told(&problems),
        };
        assert!(told.contains(key) && told.contains(part), "{message}: {told}");
    }
}
