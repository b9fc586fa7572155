// Converts the document to requests with openapi-to-postmanv2: methods, headers, parameters,
// bodies and descriptions. saved.js makes the saved answers, because the converter's have random
// values.
import converter from 'openapi-to-postmanv2';
import { operations, text } from './document.js';

const options = {
  folderStrategy: 'Tags',
  parametersResolution: 'Example',
  includeWebhooks: true, // excluded by default
  enableOptionalParameters: false,
  keepImplicitHeaders: false,
};

/** The requests by operationId: {method, path, variable, header, body, description}. */
export async function convert() {
  const collection = await new Promise((resolve, reject) => {
    converter.convertV2({ type: 'string', data: text }, options, (error, result) => {
      if (error || !result.result) reject(error ?? new Error(result.reason));
      else resolve(result.output[0].data);
    });
  });
  const requests = [...requestsIn(collection.item)];
  return Object.fromEntries(operations.map((operation) => {
    const address = addressOf(operation);
    const found = requests.filter(({ method, url }) => method === operation.method && `${url.host.join('.')}/${(url.path ?? []).join('/')}` === address);
    if (found.length !== 1) throw new Error(`${operation.operationId}: the converter made ${found.length} requests of it`);
    return [operation.operationId, found[0]];
  }));
}

/** Where the converter has the operation. The name of a webhook it takes for a part of a host. */
function addressOf({ place, webhook }) {
  return webhook ? `{{baseUrl}}${place}/` : `{{baseUrl}}${place.replace(/\{(.+?)\}/g, ':$1')}`;
}

function* requestsIn(items) {
  for (const item of items) {
    if (item.request) yield item.request;
    else yield* requestsIn(item.item);
  }
}
