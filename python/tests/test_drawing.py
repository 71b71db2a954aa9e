"""Drawings of networks: all that is wired is drawn, at places that do not coincide."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

import tailback
from tailback import drawing

pytestmark = pytest.mark.engine

NETWORKS = {
    "{ kind = 'k-ary-n-tree', k = 4, n = 3, horizontal = 2 }": {
        "horizontal": 2 * (4 * 3 + 15),
        "level1": 64,
        "level2": 64,
    },
    "{ kind = 'dragonfly', p = 2, a = 4, h = 2, groups = 5 }": {"local": 30, "global": 20},
    "{ kind = 'torus', dims = [4, 3, 3] }": {"x": 36, "y": 36, "z": 36},
    "{ kind = 'mesh', dims = [2, 2, 2, 2, 2, 2] }": dict.fromkeys("xyzwvu", 32),
    "{ kind = 'hyperx', dims = [4, 4], links = 3 }": {"x": 72, "y": 72},
    "{ kind = 'kns', k = 4, n = 2 }": {"x": 16, "y": 16},
    "{ kind = 'single-switch', endpoints = 9 }": {},
}


IN_ONE_LINE = [
    "{ kind = 'dragonfly', p = 1, a = 1, h = 1, groups = 2 }",
    "{ kind = 'dragonfly', p = 1, a = 2, h = 0, groups = 1 }",
    "{ kind = 'single-switch', endpoints = 2 }",
    "{ kind = 'torus', dims = [8] }",
    "{ kind = 'hyperx', dims = [12] }",
    "{ kind = 'mesh', dims = [1, 6] }",
    "{ kind = 'k-ary-n-tree', k = 2, n = 1 }",
]
OF_MANY_DIMENSIONS = [
    "{ kind = 'torus', dims = [2, 2, 2, 2] }",
    "{ kind = 'torus', dims = [2, 2, 2, 2, 2, 2] }",
    "{ kind = 'hyperx', dims = [2, 2, 2, 2, 2, 2] }",
    "{ kind = 'hyperx', dims = [3, 2, 2, 3] }",
    "{ kind = 'mesh', dims = [3, 2, 1, 2, 3] }",
]


def _text(topology: str) -> str:
    """A scenario with a routing that the network has."""
    kind = "nca" if "k-ary" in topology else "dor" if "dims" in topology or "kns" in topology else "minimal"
    return (
        f"topology = {topology}\nrouting = {{ kind = '{kind}' }}\n"
        "[[traffic]]\nname = 'all'\npattern = 'uniform'\nload = 0.1\nmessage = '1 flit'\n"
    )


def _network(topology: str) -> tailback.Scenario:
    return tailback.Scenario(_text(topology))


@pytest.mark.parametrize("topology", NETWORKS)
def test_every_link_is_drawn_in_the_colour_of_its_class(topology):
    figure = drawing.network(_network(topology))
    (axes,) = figure.axes
    told = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert told == [f"{name}: {count}" for name, count in NETWORKS[topology].items()]
    drawn = [lines for lines in axes.collections if isinstance(lines, LineCollection)]
    facts = _network(topology).describe()
    *classes, hosts = drawn
    assert len(hosts.get_segments()) == facts["endpoints"]
    colours = [tuple(lines.get_colors()[0]) for lines in classes]
    assert len(set(colours)) == len(classes) == len(NETWORKS[topology])
    links, offsets = facts["links"], [points.get_offsets() for points in axes.collections[-2:]]
    assert sum(row["links"] for row in links[1:]) == sum(NETWORKS[topology].values())
    assert [len(points) for points in offsets] == [facts["endpoints"], facts["switches"]]
    places = np.round(np.concatenate(offsets), 6)
    assert len(np.unique(places, axis=0)) == len(places)


@pytest.mark.parametrize("topology", IN_ONE_LINE)
def test_no_dot_is_cut_at_the_edge(topology):
    figure = drawing.network(_network(topology))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert axes.bbox.width > figure.bbox.width / 2
    assert axes.bbox.height > figure.bbox.height / 2
    for dots in (shown for shown in axes.collections if isinstance(shown, PathCollection)):
        radius = np.sqrt(dots.get_sizes()[0]) / 2 * figure.dpi / 72
        places = axes.transData.transform(dots.get_offsets())
        assert (places - radius >= axes.bbox.min).all()
        assert (places + radius <= axes.bbox.max).all()


@pytest.mark.parametrize("topology", OF_MANY_DIMENSIONS)
def test_no_link_lies_along_a_link_of_another_class(topology):
    classes = _links(drawing.network(_network(topology)))
    for number, links in enumerate(classes):
        others = np.concatenate(classes[:number] + classes[number + 1 :])
        # Two points of each link, for others may cross it in one.
        off = np.maximum(_distance(links[:, 4], others), _distance(links[:, 9], others))
        assert off.min() > 0.02


def _links(figure: Figure) -> list[np.ndarray]:
    """The points of each link, by class; those of hosts left out."""
    drawn = [lines for lines in figure.axes[0].collections if isinstance(lines, LineCollection)]
    return [np.array(lines.get_segments()) for lines in drawn[:-1]]


def _distance(points: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Between each point and the nearest place of each link."""
    first, along = links[:, :-1], np.diff(links, axis=1)
    from_first = points[:, None, None] - first
    part = np.clip((from_first * along).sum(axis=-1) / (along**2).sum(axis=-1), 0, 1)
    return np.linalg.norm(from_first - part[..., None] * along, axis=-1).min(axis=-1)


@pytest.mark.parametrize(
    ("topology", "title"),
    [
        ("{ kind = 'single-switch', endpoints = 2 }", "1 switch (black), 2 endpoints (grey)"),
        ("{ kind = 'torus', dims = [40, 30] }", "1,200 switches (black), 1,200 endpoints (grey)"),
    ],
)
def test_the_title_counts_switches_and_endpoints(topology, title):
    (axes,) = drawing.network(_network(topology)).axes
    assert axes.get_title(loc="left").endswith(f": {title}")


def test_parallel_links_are_one_line_that_is_thicker():
    def width(links: int) -> tuple[int, float]:
        figure = drawing.network(_network(f"{{ kind = 'torus', dims = [4, 4], links = {links} }}"))
        lines = figure.axes[0].collections[0]
        return len(lines.get_segments()), lines.get_linewidths()[0]

    assert width(1)[0] == width(3)[0] == 16
    assert width(3)[1] > width(1)[1]


def test_a_network_of_too_many_links_is_a_mistake():
    with pytest.raises(tailback.InputError, match=r"joins 39,744 pairs of switches"):
        drawing.network(_network("{ kind = 'mesh', dims = [24, 24, 24] }"))


def test_the_command_draws_and_tells_where(command, scenario_file, tmp_path):
    file = scenario_file(_text("{ kind = 'mesh', dims = [3, 3] }"))
    for name in ("net.svg", "net.png", "net.PDF"):
        assert command("describe", file, "--draw", name) == (0, f"{name}\n", "")
        assert (tmp_path / name).stat().st_size > 0
    status, _, err = command("describe", file, "--draw", "net.gif")
    assert (status, "net.gif is no picture" in err) == (2, True)
    assert not Path("net.gif").exists()


def test_links_that_have_failed_are_dotted_and_their_switches_stand_where_they_did():
    network = _network("{ kind = 'k-ary-n-tree', k = 2, n = 3 }")
    sound = drawing.network(network)
    told = network.channels()
    # All of a switch at the top, and one link of another.
    joined = [[one, other] for one, other, *_ in told["channels"] if one < other < told["switches"]]
    pairs = [pair for pair in joined if pair[1] == 8] + [pair for pair in joined if pair[1] == 9][:1]
    damaged = drawing.network(network.replace({"link.failed": [{"between": pairs}]}))
    switches = [
        next(dots for dots in figure.axes[0].collections[::-1] if isinstance(dots, PathCollection))
        for figure in (sound, damaged)
    ]
    np.testing.assert_allclose(switches[0].get_offsets(), switches[1].get_offsets())
    labels = [text.get_text() for text in damaged.legends[0].get_texts()]
    assert labels[-1] == f"failed: {len(pairs)}"
    assert sum(int(label.split(": ")[1]) for label in labels) == 16
