/** How a method of the client is sent. */
export interface Operation {
  name: string;
  method: 'GET' | 'POST';
  /** `{id}` stands for the lead. */
  path: string;
  credential: 'key' | 'bearer' | 'none';
  /** Whether it takes an Idempotency-Key, and X-Pingpost-Test. */
  once?: true;
  test?: true;
}

export const operations = {
  ingestLead: { name: 'ingestLead', method: 'POST', path: '/api/v1/ingest', credential: 'key', once: true, test: true },
  checkAvailability: { name: 'checkAvailability', method: 'POST', path: '/api/v1/ping', credential: 'key', once: true, test: true },
  getSuppliedLead: { name: 'getSuppliedLead', method: 'GET', path: '/api/v1/leads/{id}', credential: 'key' },
  sendPing: { name: 'sendPing', method: 'POST', path: '/v1/ping', credential: 'bearer', once: true, test: true },
  sendPost: { name: 'sendPost', method: 'POST', path: '/v1/post', credential: 'bearer', once: true, test: true },
  getLead: { name: 'getLead', method: 'GET', path: '/v1/leads/{id}', credential: 'bearer' },
  reportStatus: { name: 'reportStatus', method: 'POST', path: '/v1/leads/{id}/status', credential: 'bearer', once: true },
  reportStatuses: { name: 'reportStatuses', method: 'POST', path: '/v1/leads/status', credential: 'bearer', once: true },
  seedLeads: { name: 'seedLeads', method: 'POST', path: '/v1/dev/seed', credential: 'bearer' },
  createToken: { name: 'createToken', method: 'POST', path: '/oauth/token', credential: 'none' },
} as const satisfies Record<string, Operation>;
