import { address, type Query } from '../call';

// Exports are the links to the files of a report, a statement or a search for leads.
export function Exports({ path, query }: { path: 'report' | 'statement' | 'leads/export'; query: Query }) {
  const name = path.split('/')[0];
  return (
    <>
      {['csv', 'ndjson', 'parquet'].map((format) => (
        <a class="button quiet" href={address(path, { ...query, format })} download={`${name}.${format}`}>
          Export {format === 'parquet' ? 'Parquet' : format.toUpperCase()}
        </a>
      ))}
    </>
  );
}
