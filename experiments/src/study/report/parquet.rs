//! Tables as Apache Parquet: the columns of CSV with their types, without compression, and the same bytes from every build.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::sheet::{Column, Values};

/// The file of a table: one row group, each column optional.
pub fn file(columns: &[Column]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    // the writer's own name holds its version
    let properties = WriterProperties::builder().set_created_by("keyfit".into()).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    let mut rest = columns.iter();
    while let (Some(writer), Some(column)) = (group.next_column()?, rest.next()) {
        write(writer, &column.values)?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.values {
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Whole(_) => (Physical::INT64, None),
        Values::Real(_) => (Physical::DOUBLE, None),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_logical_type(logical)
        .with_repetition(Repetition::OPTIONAL)
        .build()
}

fn write(mut writer: SerializedColumnWriter<'_>, values: &Values) -> Result<(), ParquetError> {
    match values {
        Values::Text(all) => {
            let there: Vec<ByteArray> = all.iter().flatten().map(|text| text.as_str().into()).collect();
            writer.typed::<ByteArrayType>().write_batch(&there, Some(&levels(all)), None)?;
        }
        Values::Whole(all) => {
            let there: Vec<i64> = all.iter().flatten().copied().collect();
            writer.typed::<Int64Type>().write_batch(&there, Some(&levels(all)), None)?;
        }
        Values::Real(all) => {
            let there: Vec<f64> = all.iter().flatten().copied().collect();
            writer.typed::<DoubleType>().write_batch(&there, Some(&levels(all)), None)?;
        }
    }
    writer.close()
}

/// For each row whether there is a value.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn what_is_written_is_read() {
        let columns = [
            Column {
                name: "solver".into(),
                values: Values::Text(vec![Some("ünï".into()), None, Some(String::new())]),
            },
            Column { name: "runs".into(), values: Values::Whole(vec![Some(-3), Some(i64::MAX), None]) },
            Column {
                name: "digits".into(),
                values: Values::Real(vec![Some(0.1), None, Some(f64::INFINITY)]),
            },
        ];
        let bytes = file(&columns).unwrap();
        assert_eq!(bytes, file(&columns).unwrap());
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().file_metadata().created_by(), Some("keyfit"));
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn a_table_without_rows_is_one() {
        let columns = [Column { name: "solver".into(), values: Values::Text(Vec::new()) }];
        let reader = SerializedFileReader::new(bytes::Bytes::from(file(&columns).unwrap())).unwrap();
        assert_eq!(reader.get_row_iter(None).unwrap().count(), 0);
    }
}
