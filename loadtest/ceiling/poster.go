package ceiling

import (
	"fmt"
	"time"

	"github.com/valyala/fasthttp"
)

// poster posts a lead to its buyer between the two commits. It uses the lead's idempotency
// key and never retries.
type poster struct {
	client *fasthttp.HostClient
	url    string
}

// postScratch is the workspace of a post, a part of the lead's scratch.
type postScratch struct {
	request  fasthttp.Request
	response fasthttp.Response
	body     []byte
}

// postTimeout is the exchange's default.
const postTimeout = 10 * time.Second

// post returns when the buyer has accepted the lead.
func (c *poster) post(r *scratch, key []byte) error {
	p := &r.post
	p.body = r.lead.appendPost(p.body[:0], key)
	p.request.Header.SetMethod(fasthttp.MethodPost)
	p.request.SetRequestURI(c.url)
	p.request.Header.SetContentType("application/json")
	p.request.Header.SetBytesV("Idempotency-Key", key)
	p.request.SetBodyRaw(p.body)
	if err := c.client.DoDeadline(&p.request, &p.response, time.Now().Add(postTimeout)); err != nil {
		return err
	}
	if status := p.response.StatusCode(); status != fasthttp.StatusCreated {
		return fmt.Errorf("the buyer answered with status %d", status)
	}
	return nil
}

// appendPost appends the body of a post. Generated leads need no escaping.
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

// appendE164 appends an American number such as (555) 010-0100 in E.164 form.
func appendE164(dst []byte, number string) []byte {
	dst = append(dst, "+1"...)
	for i := range len(number) {
		if c := number[i]; c >= '0' && c <= '9' {
			dst = append(dst, c)
		}
	}
	return dst
}
