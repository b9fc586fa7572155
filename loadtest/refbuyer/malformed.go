package refbuyer

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/loadtest/refserver"
)

// malformation is a kind of malformed answer. The first ones could be parsed but must be
// rejected; only pings get them. A malformed answer to a post must not reveal its
// outcome.
type malformation int

const sound malformation = -1

const (
	wrongTypes malformation = iota
	negativeAmount
	hugeAmount
	missingToken
	wrongAuction
	alreadyExpired
	repeatedMembers
	redirect

	notJSON
	truncated
	oversized
	reset
	noContent
	trickle
)

// malformations are the names for the help and the tests.
var malformations = [...]string{
	wrongTypes: "wrong types", negativeAmount: "a negative amount", hugeAmount: "a huge amount",
	missingToken: "no bid token", wrongAuction: "another auction's id", alreadyExpired: "a bid that has run out",
	repeatedMembers: "a member given twice", redirect: "a redirect",
	notJSON: "no JSON", truncated: "half an answer", oversized: "a megabyte", reset: "a connection reset midway",
	noContent: "204", trickle: "a byte every tenth of a second",
}

// Malformations returns the names of the malformed answers.
func Malformations() string { return strings.Join(malformations[:], ", ") }

const oversize = 1 << 20

// drawMalformation returns one of the last n malformations, or sound.
func (c chance) drawMalformation(rate float64, key []byte, attempt, n int) malformation {
	if !c.happens(rate, drawMalformed, key, attempt) {
		return sound
	}
	which := int(c.draw(drawMalformation, key, attempt) * float64(n))
	return malformation(len(malformations) - n + which)
}

// compose appends the answer to a ping, with a wrong value if the malformation requires
// one. A malformed answer always looks like a bid.
func (b *Buyer) compose(dst []byte, o *offer, damage malformation) []byte {
	if damage == sound {
		return o.append(dst, b.chance)
	}
	o.noBid, o.amount = "", max(o.amount, cent)
	expired := *o
	expired.until -= time.Hour.Milliseconds()
	switch auction := appendText(nil, o.auction); damage {
	case wrongTypes:
		return fmt.Appendf(dst, `{"auction_id":%s,"bid":{"amount":"12.50","currency":840,"bid_token":["bid"],"valid_until":0},"buyer_filters_passed":"all"}`, auction)
	case negativeAmount:
		return o.replace(dst, b.chance, `"amount":`, `"amount":-`)
	case hugeAmount:
		return o.replace(dst, b.chance, `"amount":`, `"amount":99999999999999999999`)
	case missingToken:
		return o.replace(dst, b.chance, `"bid_token":`, `"bid_coupon":`)
	case wrongAuction:
		return o.replace(dst, b.chance, `"auction_id":"`, `"auction_id":"x`)
	case alreadyExpired:
		return expired.append(dst, b.chance)
	case repeatedMembers:
		return o.replace(dst, b.chance, `"bid":`, `"bid":{"amount":0.01},"bid":`)
	}
	return o.append(dst, b.chance)
}

func (o *offer) replace(dst []byte, c chance, old, replacement string) []byte {
	return append(dst, bytes.Replace(o.append(nil, c), []byte(old), []byte(replacement), 1)...)
}

// apply damages the written answer in a way that does not depend on its content.
func (m malformation) apply(b *Buyer, r *fasthttp.RequestCtx) {
	switch m {
	case redirect:
		r.Response.ResetBody()
		r.Response.Header.Set("Location", string(r.Path()))
		r.SetStatusCode(fasthttp.StatusFound)
	case notJSON:
		r.SetContentType("text/html")
		r.SetBodyString("<html><body>All our agents are busy.</body></html>")
	case truncated:
		r.SetBody(r.Response.Body()[:len(r.Response.Body())/2])
	case oversized:
		body := bytes.Repeat([]byte{' '}, oversize)
		copy(body, r.Response.Body())
		r.Response.SetBodyRaw(body)
	case noContent:
		r.Response.ResetBody()
		r.SetStatusCode(fasthttp.StatusNoContent)
	case reset, trickle:
		b.writeBroken(r, m)
	default:
	}
}

// writeBroken writes to the connection directly. The server then closes it.
func (b *Buyer) writeBroken(r *fasthttp.RequestCtx, m malformation) {
	body := r.Response.Body()
	head := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nConnection: close\r\n", r.Response.StatusCode(), fasthttp.StatusMessage(r.Response.StatusCode()))
	b.WriteRaw(r, func(conn net.Conn) {
		if m == reset {
			refserver.ResetAfter(conn, append(append(head, "\r\n"...), body[:len(body)/2]...))
		} else if _, err := conn.Write(fmt.Appendf(head, "Content-Length: %d\r\n\r\n", len(body))); err == nil {
			b.Trickle(conn, body)
		}
	})
}

// maybeAnswerTwice may write the answer directly to the connection before the server does,
// so that the connection carries it twice and stays open. A caller that takes the second
// copy for the answer to its next request reads the answer of another lead.
func (b *Buyer) maybeAnswerTwice(r *fasthttp.RequestCtx, key []byte, attempt int) {
	if !b.chance.happens(b.options.TwiceRate, drawTwice, key, attempt) {
		return
	}
	status, body := r.Response.StatusCode(), r.Response.Body()
	whole := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", status, fasthttp.StatusMessage(status), r.Response.Header.ContentType(), len(body))
	_, _ = r.Conn().Write(append(whole, body...)) // if it fails, the server's own write fails too
}
