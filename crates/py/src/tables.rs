//! Tables as Python takes them: name → list of (column, type, bytes), copied once.
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use tailback_engine::report::{Column, Table};

/// Columns as bytes: `int64` and `float64` little-endian, `text` as a JSON list.
pub fn to_python<'py>(py: Python<'py>, tables: &[Table]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for table in tables {
        let columns = PyList::empty(py);
        for (name, column) in &table.columns {
            let (kind, bytes) = column_bytes(py, column)?;
            columns.append(PyTuple::new(py, [name.into_pyobject(py)?.into_any(), kind, bytes])?)?;
        }
        all.set_item(table.name, columns)?;
    }
    Ok(all)
}

type TypeAndBytes<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

fn column_bytes<'py>(py: Python<'py>, column: &Column) -> PyResult<TypeAndBytes<'py>> {
    let (kind, bytes) = match column {
        Column::Int(values) => ("int64", fixed(py, values, |value| value.to_le_bytes())?),
        Column::Real(values) => ("float64", fixed(py, values, |value| value.to_le_bytes())?),
        Column::Text(values) => ("text", PyBytes::new(py, crate::json(values).as_bytes())),
    };
    Ok((kind.into_pyobject(py)?.into_any(), bytes.into_any()))
}

fn fixed<'py, T: Copy>(
    py: Python<'py>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; 8],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len() * 8, |buffer| {
        for (place, &value) in buffer.chunks_exact_mut(8).zip(values) {
            place.copy_from_slice(&bytes(value));
        }
        Ok(())
    })
}
