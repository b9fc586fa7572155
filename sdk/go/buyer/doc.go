// Package buyer makes the endpoint of a buyer from two functions: given a ping, bid; given a
// post, take the lead. What the contract asks of an endpoint beside that, it does: credentials,
// sizes, types, missing members, errors in their form, and posts that come twice.
//
//	b, err := buyer.New(buyer.Options{Bid: bid, Post: take, Bearer: os.Getenv("BUYER_TOKEN")})
//	http.Handle("/", b) // POST /v1/ping and POST /v1/post
//
// Package [pingpost/sdk/go/fastbuyer] serves the same by fasthttp.
package buyer
