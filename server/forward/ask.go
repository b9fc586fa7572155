package forward

import (
	"io"
	"time"

	"github.com/valyala/fasthttp"
)

// Ask sends the question GET path to another node, whose Handlers.Node answers. It returns the status and
// the body, which the caller closes. limit is the most time until the head of the answer. A failed
// question may have been answered twice, because Ask repeats it after an error of a kept connection.
func (f *Forwarder) Ask(id, address, path string, limit time.Duration) (status int, body io.ReadCloser, err error) {
	to := nodeKey{id, address}
	if conn := f.conns.takeIdle(to); conn != nil {
		if status, body, err = conn.ask(path, limit); err == nil {
			return status, body, nil
		}
	}
	conn, err := f.conns.dialNew(to, limit)
	if err != nil {
		return 0, nil, err
	}
	return conn.ask(path, limit)
}

// ask sends a question over the connection, which is closed or kept when the body is closed.
func (c *nodeConn) ask(path string, limit time.Duration) (status int, body io.ReadCloser, err error) {
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	question := appendLine([]byte("GET "+path+" HTTP/1.1\r\n"), headerKind, string(Node))
	question = append(appendLine(question, fasthttp.HeaderHost, "node"), "\r\n"...)
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		return 0, nil, err
	}
	if _, err := c.Write(question); err != nil {
		return 0, nil, err
	}
	answer := fasthttp.AcquireResponse()
	if err := answer.Header.Read(c.reader); err != nil {
		fasthttp.ReleaseResponse(answer)
		return 0, nil, err
	}
	return answer.StatusCode(), newRelayedBody(c, answer), nil
}
