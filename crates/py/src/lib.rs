//! The Python module `tailback._engine`: the engine's functions on text and bytes, and nothing else.
//!
//! Everything a user touches is Python (`python/tailback/`); this file only carries words over. Scenarios come in
//! as TOML text, answers go out as JSON text, tables as columns of raw little-endian bytes.
mod guard;
mod tables;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tailback_engine::problem::Problem;
use tailback_engine::report::{Progress, RunError};
use tailback_engine::scenario::Scenario;
use tailback_engine::{registry, run as engine};

pyo3::create_exception!(
    _engine,
    EngineError,
    PyException,
    "The engine gave no result: args are the kind (\"input\" or \"failed\") and its payload as JSON \
     (a list of problems, or a text)."
);

/// Keys and values given with `--set`, in order.
type Overrides = Vec<(String, String)>;

/// `(summary as JSON, tables, interrupted, why the run failed)`.
type Answer<'py> = (String, Bound<'py, pyo3::types::PyDict>, bool, Option<String>);

fn input_error(problems: &[Problem]) -> PyErr {
    EngineError::new_err(("input", json(&problems)))
}

fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Problems(problems) => input_error(&problems),
        RunError::Failed(text, _) => failed(&text),
    }
}

/// The error with the places of its problems in the file.
fn located(error: RunError, text: &str, overrides: &Overrides) -> RunError {
    match error {
        RunError::Problems(problems) => RunError::Problems(Scenario::located(text, overrides, problems)),
        other => other,
    }
}

fn failed(text: &str) -> PyErr {
    EngineError::new_err(("failed", json(&text)))
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("\"not representable as JSON: {error}\""))
}

/// Runs `work` without holding Python back; a broken law (a panic) becomes an `EngineError`.
fn free<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| guard::catch(work)).map_err(|text| failed(&text))
}

/// Every mistake in a scenario: the reader's, else the values', else those that only the built network shows.
fn mistakes(text: &str, overrides: &Overrides) -> Vec<Problem> {
    match engine::read(text, overrides) {
        Err(problems) => problems,
        Ok(scenario) => {
            let problems = scenario.problems();
            let problems = if problems.is_empty() { engine::check(&scenario) } else { problems };
            Scenario::located(text, overrides, problems)
        }
    }
}

fn parse(text: &str, overrides: &Overrides) -> Result<Scenario, RunError> {
    engine::read(text, overrides).map_err(RunError::Problems)
}

/// A file that a scenario names and that could not be read: the key of its contents, why, and what would help.
type Unread = (String, String, String);

/// All mistakes of a scenario, as a JSON list; empty if it can run. Files that could not be read are mistakes at their `path`.
#[pyfunction]
fn check(py: Python<'_>, text: &str, overrides: Overrides, unread: Vec<Unread>) -> PyResult<String> {
    let at_path = |(key, message, help): Unread| Problem::new(Scenario::path_key(&key), message, help);
    let unread: Vec<Problem> = unread.into_iter().map(at_path).collect();
    free(py, || {
        let unread = Scenario::located(text, &overrides, unread);
        // What the engine says of the same keys, which it may call by their table's name, is that nothing was handed in.
        let place = |problem: &Problem| problem.line.zip(problem.column);
        // A job may be called by its number or by its name.
        let parts =
            |problem: &Problem| Scenario::places(text, &overrides, std::slice::from_ref(&problem.path));
        let same = |one: &Problem, other: &Problem| {
            parts(one) == parts(other) || place(one).is_some() && place(one) == place(other)
        };
        let mut found = mistakes(text, &overrides);
        found.retain(|problem| !unread.iter().any(|file| same(file, problem)));
        found.extend(unread);
        found.sort_by_key(|problem| (problem.line.is_none(), problem.line, problem.column));
        json(&found)
    })
}

/// What a scenario builds (endpoints, links, zero-load latency, …), as JSON.
#[pyfunction]
fn describe(py: Python<'_>, text: &str, overrides: Overrides) -> PyResult<String> {
    let value = free(py, || parse(text, &overrides).and_then(|scenario| engine::describe(&scenario)))?;
    value.map(|value| json(&value)).map_err(run_error)
}

/// What a user has to know of a scenario's parameters on its network, as a JSON list of texts.
#[pyfunction]
fn remarks(py: Python<'_>, text: &str, overrides: Overrides) -> PyResult<String> {
    let told = free(py, || parse(text, &overrides).and_then(|scenario| engine::remarks(&scenario)))?;
    told.map(|told| json(&told)).map_err(run_error)
}

/// The channels of the network with their capacities, and the flows of phases, as JSON.
#[pyfunction]
fn channels(py: Python<'_>, text: &str, overrides: Overrides) -> PyResult<String> {
    let value = free(py, || parse(text, &overrides).and_then(|scenario| engine::channels(&scenario)))?;
    value.map(|value| json(&value)).map_err(run_error)
}

/// What each channel carries under the scenario's traffic, and the throughput that follows, as JSON.
#[pyfunction]
fn load(py: Python<'_>, text: &str, overrides: Overrides) -> PyResult<String> {
    let value = free(py, || {
        let loads = parse(text, &overrides).and_then(|scenario| engine::load(&scenario));
        loads.map_err(|error| located(error, text, &overrides))
    })?;
    value.map(|value| json(&value)).map_err(run_error)
}

/// The scenario as TOML with every default filled in.
#[pyfunction]
fn complete(py: Python<'_>, text: &str, overrides: Overrides) -> PyResult<String> {
    free(py, || parse(text, &overrides).map(|scenario| scenario.to_toml()))?.map_err(run_error)
}

/// The files that a scenario names: for each the key of the override that hands its text in, and its path.
#[pyfunction]
fn files(py: Python<'_>, text: &str, overrides: Overrides) -> PyResult<Vec<(String, String)>> {
    free(py, || Scenario::files(text, &overrides))
}

/// The parts of each of these keys of overrides, elements of lists by their index.
#[pyfunction]
fn places(py: Python<'_>, text: &str, overrides: Overrides, keys: Vec<String>) -> PyResult<Vec<Vec<String>>> {
    free(py, || Scenario::places(text, &overrides, &keys))
}

/// The JSON Schema of scenario files.
#[pyfunction]
fn schema(py: Python<'_>) -> PyResult<String> {
    free(py, || json(&registry::schema()))
}

/// Every kind of every seam with its parameters, as JSON.
#[pyfunction]
fn kinds(py: Python<'_>) -> PyResult<String> {
    free(py, || json(&registry::kinds()))
}

/// Version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Runs a scenario. `watch(simulated_ps, end_ps, packet_hops)` is called a few times a second and stops the run by
/// returning False; Ctrl-C stops it too. What was measured by then is returned, marked as interrupted, also of a run that failed.
#[pyfunction]
#[pyo3(signature = (text, overrides, watch=None))]
fn run<'py>(
    py: Python<'py>,
    text: &str,
    overrides: Overrides,
    watch: Option<Py<PyAny>>,
) -> PyResult<Answer<'py>> {
    let mut raised = None;
    let output = free(py, || {
        let scenario = parse(text, &overrides)?;
        let output =
            engine::run(&scenario, &mut |progress| keep_going(watch.as_ref(), progress, &mut raised));
        output.map_err(|error| located(error, text, &overrides))
    })?;
    if let Some(error) = raised {
        return Err(error);
    }
    let (output, failure) = match output {
        Err(RunError::Failed(failure, Some(output))) => (*output, Some(failure)),
        output => (output.map_err(run_error)?, None),
    };
    Ok((json(&output.summary), tables::to_python(py, &output.tables)?, output.interrupted, failure))
}

/// Asks Python whether to go on. An exception other than Ctrl-C's stops the run and is raised after it.
fn keep_going(watch: Option<&Py<PyAny>>, progress: Progress, raised: &mut Option<PyErr>) -> bool {
    Python::attach(|py| {
        let answer = py.check_signals().and_then(|()| match watch {
            None => Ok(true),
            Some(watch) => {
                let facts = (progress.simulated.0, progress.end.0, progress.packet_hops);
                watch.bind(py).call1(facts)?.is_truthy()
            }
        });
        answer.unwrap_or_else(|error| {
            if !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
                *raised = Some(error);
            }
            false
        })
    })
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard::install();
    module.add("EngineError", module.py().get_type::<EngineError>())?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(describe, module)?)?;
    module.add_function(wrap_pyfunction!(remarks, module)?)?;
    module.add_function(wrap_pyfunction!(complete, module)?)?;
    module.add_function(wrap_pyfunction!(files, module)?)?;
    module.add_function(wrap_pyfunction!(places, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(channels, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(kinds, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)
}
