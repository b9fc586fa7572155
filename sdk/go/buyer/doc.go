// Package buyer serves a buyer's endpoint with two functions: one returns a bid for a ping, the
// other accepts the lead of a post. The package does the rest of the contract: credentials,
// size limits, types, missing members, error format, and repeated posts.
//
//	b, err := buyer.New(buyer.Options{Bid: bid, Post: accept, Bearer: os.Getenv("BUYER_TOKEN")})
//	http.Handle("/", b) // POST /v1/ping and POST /v1/post
//
// Package [pingpost/sdk/go/fastbuyer] serves the same with fasthttp.
package buyer
