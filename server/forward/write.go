package forward

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"
)

// requestBuffers has memory for requests: *[]byte.
var requestBuffers = sync.Pool{New: func() any { return new([]byte) }}

// writeRequest sends the request. headSent is false if the other end cannot have got the whole head. A
// clientBodyError means that the client did not send its body.
func (r *clientRequest) writeRequest(conn *nodeConn) (headSent bool, err error) {
	buffer := requestBuffers.Get().(*[]byte)
	defer func() {
		clear(*buffer)
		requestBuffers.Put(buffer)
	}()
	length := bodyLength(r.ctx)
	*buffer = appendHead((*buffer)[:0], r.ctx, r.kind, length)
	head := len(*buffer)
	if r.body != nil {
		*buffer = append(*buffer, r.body.bytes...)
	}
	if err := conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return false, err
	}
	if n, err := conn.Write(*buffer); err != nil {
		return n >= head, err
	}
	if length != 0 && r.body == nil {
		r.sent = true
		return true, r.passBodyOn(conn, length)
	}
	return true, nil
}

// clientBodyError is an error of the client's connection in the middle of a body.
type clientBodyError struct{ error }

// passBodyOn sends the body to the leader while it arrives. length is -1 for a chunked one.
func (r *clientRequest) passBodyOn(conn *nodeConn, length int) error {
	from, to := newClientBody(r.ctx, length), bufio.NewWriterSize(conn, streamBuffer+64)
	piece := make([]byte, streamBuffer)
	for ended := false; !ended; {
		if r.kind == Admin && r.ctx.Conn() != nil { // an upload may take long, as long as bytes arrive
			if err := r.ctx.Conn().SetReadDeadline(time.Now().Add(streamPause)); err != nil {
				return clientBodyError{err}
			}
		}
		n, err := from.Read(piece)
		ended = errors.Is(err, io.EOF)
		if err != nil && !ended {
			return clientBodyError{err}
		}
		if err := conn.SetWriteDeadline(time.Now().Add(streamPause)); err != nil {
			return err
		}
		if length < 0 {
			writeChunk(to, piece[:n], ended)
		} else {
			_, _ = to.Write(piece[:n]) // Flush returns the error
		}
		if err := to.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// writeChunk writes a chunk and, at the end of the body, the last one. Flush returns the errors.
func writeChunk(to *bufio.Writer, piece []byte, last bool) {
	if len(piece) > 0 {
		_, _ = to.WriteString(strconv.FormatInt(int64(len(piece)), 16) + "\r\n")
		_, _ = to.Write(piece)
		_, _ = to.WriteString("\r\n")
	}
	if last {
		_, _ = to.WriteString("0\r\n\r\n")
	}
}
