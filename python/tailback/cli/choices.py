"""What there is to choose from: the engine's kinds, and what only the schema of scenario files tells."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from tailback import _engine
from tailback.cli.catalogue import Kinds
from tailback.errors import engine_errors, mistake
from tailback.sweeps.space import TABLE as SWEEP

_PRESETS, _TABLES = "presets", "tables"
_OTHERS = {"array": "a list", "object": "a table"}
"""What values are that have no name."""
_SUGGESTED = 5
_MPI = "job.mpi"
_JOB = """
topology = { kind = "single-switch", endpoints = 2 }
routing = "minimal"
job = [{ workload = "allreduce", ranks = 2, message = "1 kB" }]
"""


def kinds() -> dict[str, list[dict[str, Any]]]:
    """All kinds by seam, the tables with what each of their values means, and the presets."""
    with engine_errors():
        found: dict[str, list[dict[str, Any]]] = json.loads(_engine.kinds())
        schema = json.loads(_engine.schema())
    for table in found.get(_TABLES, ()):
        for parameter in table["parameters"]:
            values = list(_values(schema, [*table["name"].split("."), parameter["name"]]))
            if values and "values" not in parameter:
                parameter["values"] = values
        if table["name"] == _MPI:
            _fill_in(table["parameters"])
    if _TABLES in found:
        found[_TABLES].append(dict(SWEEP))
    presets = [{**preset, "parameters": []} for preset in _values(schema, [_PRESETS.removesuffix("s")])]
    return {**found, _PRESETS: presets} if presets else found


def _fill_in(parameters: list[dict[str, Any]]) -> None:
    """Gives parameters of MPI the defaults that a job has which is no trace."""
    with engine_errors():
        (job,) = tomllib.loads(_engine.complete(_JOB, []))["job"]
    for parameter in parameters:
        if parameter["default"] is None:
            parameter["default"] = job["mpi"].get(parameter["name"])


def _values(schema: Mapping[str, Any], path: list[str]) -> Iterator[dict[str, str]]:
    """The values that a key can have, where they are told one by one, if some have names."""
    node = schema
    for key in path:
        node = _resolved(schema, _resolved(schema, node).get("properties", {}).get(key, {}))
    choices = node.get("oneOf") or node.get("anyOf") or ()
    told = [{**_resolved(schema, choice), **choice} for choice in choices]
    if any("const" in choice for choice in told):
        for choice in told:
            name = choice.get("const") or _OTHERS.get(str(choice.get("type")))
            if name and choice.get("description"):
                yield {"name": name, "doc": choice["description"]}


def _resolved(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference stands for; of a list, what it has, and of what may be left out, what it may be."""
    while True:
        some = [choice for choice in node.get("anyOf", ()) if choice.get("type") != "null"]
        if len(some) == 1 and len(node["anyOf"]) == 2:
            node = some[0]
        elif "items" in node and "$ref" in node["items"]:
            node = node["items"]
        elif "$ref" in node:
            node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        else:
            return node


def named(found: Kinds, name: str) -> dict[str, list[Any]]:
    """The seam of a name, or the kinds that have it, or a parameter of it, by seam.

    Raises `InputError` with what is like it.
    """
    seam = name.replace("-", "_")
    if seam in found:
        return {seam: list(found[seam])}
    alike = {
        of: own for of, members in found.items() if (own := [kind for kind in members if _is(kind, name)])
    }
    alike = alike or {of: list(found[of]) for of in found if _is_key_of(seam, of)} or _having(found, name)
    if not alike:
        raise mistake(f"there is nothing called {name!r} to list", _like(found, name))
    return alike


def _is_key_of(key: str, seam: str) -> bool:
    """Whether a key of a scenario takes kinds of a seam, as `switch` those of `switches`."""
    several = (f"{key}s", f"{key}es", f"{key.removesuffix('y')}ies")
    return seam.endswith(several) and (seam in several or seam.endswith(tuple(f"_{one}" for one in several)))


def _having(found: Kinds, name: str) -> dict[str, list[Any]]:
    """The kinds that have a parameter of a name, with that alone; `traffic.load` is that of one kind."""
    of_kind, _, wanted = name.rpartition(".")
    having: dict[str, list[Any]] = {}
    for seam, members in found.items():
        for kind in members:
            own = [one for one in kind["parameters"] if one["name"] == wanted]
            if own and (not of_kind or _is(kind, of_kind)):
                having.setdefault(seam, []).append({**kind, "doc": "", "parameters": own})
    return having


def _is(kind: Mapping[str, Any], name: str) -> bool:
    """Whether it is called so; a table inside of another by its own part too, as `mpi` of `job.mpi`."""
    known, wanted = (one.replace("_", "-") for one in (str(kind["name"]), name))
    return wanted in (known, known.rpartition(".")[2])


def _like(found: Kinds, name: str) -> str:
    wanted = name.replace("-", "_")
    names = {kind["name"].replace("-", "_"): kind["name"] for members in found.values() for kind in members}
    names |= {seam: seam for seam in found}
    near = [names[one] for one in names if len(wanted) > 2 and wanted in one]
    near += [names[one] for one in get_close_matches(wanted, names)]
    if near:
        return f"did you mean {' or '.join(list(dict.fromkeys(near))[:_SUGGESTED])}?"
    return f"one of {', '.join(found)}, or the name of a kind, such as those that tailback list prints"
