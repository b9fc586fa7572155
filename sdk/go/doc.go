// Package pingpost is a client of a pingpost exchange. It sells leads, buys leads, and verifies
// webhooks.
//
//   - [Client] sends the requests of suppliers and buyers. It fetches access tokens, generates
//     idempotency keys, and retries where that is safe.
//   - [VerifyWebhook] verifies and decodes a webhook.
//   - Package [pingpost/sdk/go/buyer] serves a buyer's endpoint with two functions, for
//     net/http; package [pingpost/sdk/go/fastbuyer] serves it with fasthttp.
//   - Package [pingpost/sdk/go/model] has the requests, answers and events.
package pingpost

// Version is the version of this package. The User-Agent header contains it.
const Version = "1.0.0"
