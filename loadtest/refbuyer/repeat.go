package refbuyer

import (
	"fmt"

	"github.com/valyala/fasthttp"
)

// maybeAnswerTwice may write the answer directly to the connection before the server does, so that
// the connection carries it twice and stays open. A caller that takes the second copy for
// the
// answer to its next request reads the answer of another lead.
func (b *Buyer) maybeAnswerTwice(r *fasthttp.RequestCtx, key []byte, attempt int) {
	if !b.chance.happens(b.options.TwiceRate, drawTwice, key, attempt) {
		return
	}
	status, body := r.Response.StatusCode(), r.Response.Body()
	whole := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", status, fasthttp.StatusMessage(status), r.Response.Header.ContentType(), len(body))
	_, _ = r.Conn().Write(append(whole, body...)) // if it fails, the server's own write fails too
}
