// The saved answers, which a client shows as examples: the examples of the document.
import { STATUS_CODES } from 'node:http';
import { codes, examplesOf, follow, operation } from './document.js';

/**
 * The document's examples of the answer that a request of the story is to have. One that is told
 * of in whole has the request beside each.
 */
export function savedOf(told, request, whole) {
  if (!told.operation || !(whole || told.error)) return [];
  const { responses } = operation(told.operation);
  const status = told.status ?? codes.errors.find(({ code }) => code === told.error).status;
  const response = follow(responses[status]);
  const { method, url, body } = request;
  const header = request.header.filter((one) => !one.disabled).map(({ key, value }) => ({ key, value }));
  return Object.entries(examplesOf(response?.content?.['application/json']))
    .filter(([, { value }]) => !told.error || value.error === told.error)
    .map(([, { summary, value }]) => ({
      name: summary,
      ...(whole && { originalRequest: { method, header, url, body } }),
      status: STATUS_CODES[status],
      code: Number(status),
      _postman_previewlanguage: 'json',
      header: [{ key: 'Content-Type', value: 'application/json' }],
      cookie: [],
      body: JSON.stringify(value, null, 2),
    }));
}
