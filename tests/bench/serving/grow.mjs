// How much else there is in an installation: other workspaces, more datasets of our own, more tokens, and a longer record.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const ROWS = `
import json, sqlite3, sys
file, tenants, datasets, tokens, audit = sys.argv[1], *map(int, sys.argv[2:])
db = sqlite3.connect(file)
db.execute('PRAGMA synchronous = OFF')
(own,) = db.execute("SELECT id FROM orgs WHERE slug = 'bench'").fetchone()
def uuid(kind, n): return f'01900000-0000-7{kind:03x}-8000-{n:012x}'
columns = json.dumps([{'name': f'c{n}', 'type': 'BIGINT', 'nullable': True, 'description': 'A number.', 'sample_values': ['1', '2']} for n in range(20)])
def dataset(org, n): return (org, uuid(2, n), f'more_{n}', 'Made for a measurement.', 'table', 1, 'v1', 1, 1, columns, 'more.csv', 1, 1)
def token(org, n): return (org, f'T{n:07d}', 'more', 'ext:sql', f'{n:064x}', '0000', 1, 0)
others = [uuid(1, n) for n in range(tenants)]
db.executemany('INSERT INTO orgs (id, slug, name, connectivity_enabled, created_at) VALUES (?, ?, ?, 1, 1)', [(org, f'more-{n}', 'More') for n, org in enumerate(others)])
put = 'INSERT INTO datasets (org_id, id, name, description, kind, externally_queryable, version, row_count, bytes, columns_json, source, created_at, updated_at) VALUES (' + ', '.join('?' * 13) + ')'
db.executemany(put, [dataset(own, n) for n in range(datasets)])
db.executemany(put, [dataset(org, 1_000_000 + n) for n, org in enumerate(others)])
hand = 'INSERT INTO connectivity_tokens (org_id, id, label, scopes, digest, last_four, created_at, use_count) VALUES (' + ', '.join('?' * 8) + ')'
db.executemany(hand, [token(others[n % tenants] if tenants else own, n) for n in range(tokens)])
entry = json.dumps({'at': 1, 'org': own, 'principal': 'token:x', 'client': 'more', 'client_version': '1', 'session': '', 'ip': '127.0.0.1', 'request_id': uuid(3, 1),
    'action': 'mcp.tool.call', 'target': 'dragoman_sql SELECT 1', 'outcome': 'ok', 'duration_ms': 1, 'rows': 1, 'bytes': 100})
(seq,) = db.execute('SELECT COALESCE(MAX(seq), 0) FROM audit WHERE chain = ?', (own,)).fetchone()
db.executemany('INSERT INTO audit (chain, seq, at, action, outcome, entry, hash) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ((own, seq + 1 + n, 1 + n, 'mcp.tool.call', 'ok', entry, f'{n:064x}') for n in range(audit)))
if audit:
    db.execute('UPDATE audit_heads SET seq = ? WHERE chain = ?', (seq + audit, own))
db.commit()`;

/** Before the service starts. */
export function grow({ data, env }, { tenants, datasets, tokens, audit }) {
  const numbers = [tenants, datasets, tokens, audit];
  if (numbers.every((number) => number === '0')) return;
  if (env.DATABASE_URL) throw new Error('what grows is measured on SQLite');
  execFileSync('python3', ['-c', ROWS, join(data, 'metadata.sqlite'), ...numbers], { stdio: ['ignore', 'inherit', 'inherit'] });
}
