package ceiling

import (
	"fmt"
	"time"

	"github.com/valyala/fasthttp"
)

// courier posts a lead to its buyer, between the two commits. Its lead goes out
// under the key that it came with, and is posted once: nothing is retried.
type courier struct {
	client *fasthttp.HostClient
	url    string
}

// postRoom is what one post needs. It goes back to the pool with the lead's room.
type postRoom struct {
	request  fasthttp.Request
	response fasthttp.Response
	body     []byte
}

func newCourier(buyer string, connections, header int, idle time.Duration) *courier {
	return &courier{
		url: "http://" + buyer + "/v1/post",
		client: &fasthttp.HostClient{
			Addr: buyer, MaxConns: connections, ReadBufferSize: header, MaxIdleConnDuration: idle,
			ConnPoolStrategy: fasthttp.LIFO, NoDefaultUserAgentHeader: true,
		},
	}
}

// postPatience is how long a buyer may take, as the exchange has it by default.
const postPatience = 10 * time.Second

// post returns when the buyer has taken the lead.
func (c *courier) post(r *room, key []byte) error {
	p := &r.post
	p.body = r.lead.appendPost(p.body[:0], key)
	p.request.Header.SetMethod(fasthttp.MethodPost)
	p.request.SetRequestURI(c.url)
	p.request.Header.SetContentType("application/json")
	p.request.Header.SetBytesV("Idempotency-Key", key)
	p.request.SetBodyRaw(p.body)
	if err := c.client.DoDeadline(&p.request, &p.response, time.Now().Add(postPatience)); err != nil {
		return err
	}
	if status := p.response.StatusCode(); status != fasthttp.StatusCreated {
		return fmt.Errorf("the buyer answers %d", status)
	}
	return nil
}

// appendPost writes a lead as it is posted. Its values are those of generated
// leads, in which nothing has to be escaped.
func (l *Lead) appendPost(dst, key []byte) []byte {
	member := func(before, value string) { dst = append(append(append(dst, before...), value...), '"') }
	member(`{"auction_id":"`, string(key))
	member(`,"lead":{"lead_uuid":"`, string(key))
	member(`,"first_name":"`, l.FirstName)
	member(`,"last_name":"`, l.LastName)
	member(`,"email":"`, l.Email)
	dst = append(appendE164(append(dst, `,"phone":"`...), l.Phone), '"')
	member(`,"address":{"line1":"`, l.Line1)
	member(`,"city":"`, l.City)
	member(`,"state":"`, l.State)
	member(`,"zip":"`, l.Zip)
	member(`},"source":"`, l.Source)
	return append(dst, "}}"...)
}

// appendE164 writes an American number, as (555) 010-0100, in the form that is
// posted.
func appendE164(dst []byte, number string) []byte {
	dst = append(dst, "+1"...)
	for i := range len(number) {
		if c := number[i]; c >= '0' && c <= '9' {
			dst = append(dst, c)
		}
	}
	return dst
}
