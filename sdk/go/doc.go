// Package pingpost speaks to a pingpost exchange: it sells leads to it, bids for leads and
// takes them from it, and verifies what it tells of them.
//
//   - [Client] sends what suppliers and buyers send. It fetches access tokens, makes a key
//     for what must not be done twice, and tries again what may be tried again.
//   - [VerifyWebhook] takes a webhook for what it says it is, or does not.
//   - Package [pingpost/sdk/go/buyer] makes the endpoint of a buyer from two functions, for
//     net/http; package [pingpost/sdk/go/fastbuyer] serves it by fasthttp.
//   - Package [pingpost/sdk/go/model] has the requests, answers and events.
package pingpost

// Version is the version of this package. It is in the User-Agent.
const Version = "1.0.0"
