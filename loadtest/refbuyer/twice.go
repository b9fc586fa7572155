package refbuyer

import (
	"fmt"

	"github.com/valyala/fasthttp"
)

// repeats may write an answer past the server, so that it stands on the connection
// twice when the server has written it, too. The connection goes on: a caller that
// takes the second one for the answer to its next request hears of another lead.
func (b *Buyer) repeats(r *fasthttp.RequestCtx, key []byte, attempt int) {
	if !b.chance.happens(b.options.TwiceRate, drawTwice, key, attempt) {
		return
	}
	status, body := r.Response.StatusCode(), r.Response.Body()
	whole := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", status, fasthttp.StatusMessage(status), r.Response.Header.ContentType(), len(body))
	_, _ = r.Conn().Write(append(whole, body...)) // where it fails, the server's own will
}
