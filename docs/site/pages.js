// The pages of the site by section. A page is [file in the repository, address below /docs, short name].
// An address has one segment, because the OpenAPI document names the pages /docs/{page}.

export const sections = [
  [
    'Get started',
    [
      ['docs/README.md', '', 'Documentation'],
      ['docs/concepts.md', 'concepts', 'Concepts'],
      ['docs/install.md', 'install', 'Install'],
      ['docs/first-exchange.md', 'first-exchange', 'Your first exchange'],
      ['docs/sandbox.md', 'sandbox', 'Sandbox'],
      ['docs/auction.md', 'auction', 'The auction'],
      ['docs/going-live.md', 'going-live', 'From sandbox to production'],
    ],
  ],
  [
    'Suppliers',
    [
      ['docs/supplier.md', 'supplier', 'Quick start'],
      ['docs/webhooks.md', 'webhooks', 'Webhooks'],
      ['docs/idempotency.md', 'idempotency', 'Idempotency and retries'],
      ['sdk/go/README.md', 'sdk-go', 'SDK for Go'],
      ['sdk/node/README.md', 'sdk-node', 'SDK for Node'],
      ['sdk/python/README.md', 'sdk-python', 'SDK for Python'],
      ['sdk/php/README.md', 'sdk-php', 'SDK for PHP'],
    ],
  ],
  [
    'Buyers',
    [
      ['docs/buyer.md', 'buyer', 'Quick start'],
      ['docs/reports.md', 'reports', 'After the sale'],
      ['docs/adapters.md', 'adapters', 'Adapters'],
      ['examples/adapters/README.md', 'example-adapters', 'Example adapters'],
    ],
  ],
  [
    'Operators',
    [
      ['docs/operator.md', 'operator', 'Quick start'],
      ['docs/dashboard.md', 'dashboard', 'Dashboard'],
      ['docs/analytics.md', 'analytics', 'Search, statements, reports'],
      ['docs/saved-reports.md', 'saved-reports', 'Saved reports'],
      ['docs/alerts.md', 'alerts', 'Alerts'],
      ['docs/users.md', 'users', 'Users'],
      ['docs/secrets.md', 'secrets', 'Secrets'],
      ['docs/privacy.md', 'privacy', 'Erase a person'],
      ['examples/sandbox/README.md', 'example-sandbox', 'Example sandbox'],
      ['examples/chain/README.md', 'example-chain', 'Chain of exchanges'],
      ['examples/cluster/README.md', 'example-cluster', 'Example cluster'],
    ],
  ],
  [
    'Run in production',
    [
      ['docs/production.md', 'production', 'Run in production'],
      ['docs/runbook.md', 'runbook', 'Runbook'],
      ['docs/monitoring.md', 'monitoring', 'Monitoring'],
      ['docs/network.md', 'network', 'Network'],
      ['docs/cluster.md', 'cluster', 'Run on three machines'],
      ['docs/backup.md', 'backup', 'Backup and restore'],
      ['docs/data.md', 'data', 'Data, disk and memory'],
      ['deploy/README.md', 'deploy', 'Deployment files'],
      ['docs/benchmarks.md', 'benchmarks', 'Benchmarks'],
      ['docs/operations.md', 'operations', 'Operations by task'],
    ],
  ],
  [
    'Reference',
    [
      ['docs/configuration.md', 'configuration', 'Configuration'],
      ['docs/commands.md', 'commands', 'Command line'],
      ['docs/errors.md', 'errors', 'Errors'],
      ['docs/limits.md', 'limits', 'Limits'],
      ['docs/versioning.md', 'versioning', 'Versioning'],
      ['CHANGELOG.md', 'changelog', 'Changelog'],
      ['api/openapi.yaml', 'api', 'API reference'],
      ['docs/admin-api.md', 'admin-api', 'Admin API'],
      ['api/admin.yaml', 'admin', 'Admin API reference'],
    ],
  ],
  [
    'Design',
    [
      ['ARCHITECTURE.md', 'architecture', 'Architecture'],
      ['SECURITY.md', 'security', 'Security'],
      ['engine/DESIGN.md', 'design-engine', 'Engine'],
      ['engine/auction/DESIGN.md', 'design-auction', 'Auctions'],
      ['engine/delivery/DESIGN.md', 'design-delivery', 'Deliveries'],
      ['engine/webhook/DESIGN.md', 'design-webhook', 'Webhooks'],
      ['engine/alert/DESIGN.md', 'design-alert', 'Alerts'],
      ['engine/state/DESIGN.md', 'design-state', 'State'],
      ['wal/DESIGN.md', 'design-log', 'Log'],
      ['wal/backup/DESIGN.md', 'design-backup', 'Backups'],
      ['config/DESIGN.md', 'design-configuration', 'Configuration'],
      ['server/DESIGN.md', 'design-server', 'Server'],
      ['server/admin/audit/DESIGN.md', 'design-audit', 'Audit log'],
      ['server/admin/oidc/DESIGN.md', 'design-oidc', 'Identity provider'],
      ['server/instructions/DESIGN.md', 'design-instructions', 'Posting instructions'],
      ['server/dashboard/DESIGN.md', 'design-dashboard', 'Dashboard'],
      ['docs/site/DESIGN.md', 'design-site', 'Documentation site'],
      ['outbound/DESIGN.md', 'design-outbound', 'Outbound requests'],
      ['keys/DESIGN.md', 'design-keys', 'Keys'],
      ['report/DESIGN.md', 'design-report', 'Report'],
      ['api/DESIGN.md', 'design-api', 'API documents'],
      ['api/collection/README.md', 'collection', 'API client collection'],
      ['sdk/DESIGN.md', 'design-sdk', 'SDKs'],
      ['sdk/conformance/PROTOCOL.md', 'sdk-protocol', 'SDK conformance'],
      ['internal/trace/DESIGN.md', 'design-traces', 'Traces'],
      ['loadtest/DESIGN.md', 'design-load-test', 'Load test design'],
      ['loadtest/README.md', 'load-test', 'Load test'],
      ['fuzz/DESIGN.md', 'design-fault-tests', 'Fault tests design'],
      ['fuzz/README.md', 'fault-tests', 'Fault tests'],
      ['BENCHMARKS.md', 'measurements', 'Measurements'],
    ],
  ],
];

// Files that have no page of their own, and the address that shows their content.
export const aliases = { 'README.md': '', 'examples/sandbox': 'example-sandbox', 'sdk/conformance': 'sdk-protocol' };

// The address of each file's page.
export const addresses = new Map([
  ...sections.flatMap(([, pages]) => pages.map(([file, address]) => [file, address])),
  ...Object.entries(aliases),
]);

// hrefTo returns a relative link between two addresses, so that the site works below any prefix.
export function hrefTo(from, to) {
  if (from === '') return to === '' ? 'docs' : `docs/${to}`;
  return to === '' ? '../docs' : to;
}
