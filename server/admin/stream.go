package admin

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/server/connection"
)

// liveOverviewFeed sends the overview to all open dashboards once a second, as server-sent events.
// It builds each event once for all of them, and builds no events while there are no subscribers.
type liveOverviewFeed struct {
	makeEvent  func() []byte // returns nil to end all streams
	every      time.Duration
	stallLimit time.Duration // how long a subscriber may stop reading before it is disconnected

	mu          sync.Mutex
	subscribers map[*eventStreamSubscriber]struct{}
	running     bool
	closed      bool
}

const (
	liveEvery      = time.Second
	stallLimit     = 10 * time.Second
	maxSubscribers = 100

	maxSubscribersPerName = 20
)

func newLiveOverviewFeed(makeEvent func() []byte) *liveOverviewFeed {
	return &liveOverviewFeed{makeEvent: makeEvent, every: liveEvery, stallLimit: stallLimit, subscribers: make(map[*eventStreamSubscriber]struct{})}
}

// addSubscriberOrNil starts an event stream for operatorName, with firstEvent as its first event.
// The stream ends when isStillValid returns false. It returns nil if there are too many
// streams, in total or for this operator, or after close.
func (l *liveOverviewFeed) addSubscriberOrNil(conn net.Conn, operatorName string, firstEvent []byte, isStillValid func() bool) *eventStreamSubscriber {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.subscribers) >= maxSubscribers || l.countSubscribersLocked(operatorName) >= maxSubscribersPerName {
		return nil
	}
	s := &eventStreamSubscriber{feed: l, conn: conn, name: operatorName, isStillValid: isStillValid, next: make(chan []byte, 1), ended: make(chan struct{})}
	s.next <- firstEvent
	l.subscribers[s] = struct{}{}
	if !l.running {
		l.running = true
		go l.run()
	}
	return s
}

func (l *liveOverviewFeed) countSubscribersLocked(operatorName string) (n int) {
	for s := range l.subscribers {
		if s.name == operatorName {
			n++
		}
	}
	return n
}

// run builds an event every second and queues it for all subscribers. It ends when there are no
// more subscribers; the next addSubscriberOrNil starts it again.
func (l *liveOverviewFeed) run() {
	ticker := time.NewTicker(l.every)
	defer ticker.Stop()
	for range ticker.C {
		if !l.hasSubscribersElseMarkStopped() {
			return
		}
		event := l.makeEvent()
		if event == nil {
			l.endAllStreams()
			continue
		}
		l.mu.Lock()
		for s := range l.subscribers {
			if !s.isStillValid() {
				l.endStreamLocked(s)
				continue
			}
			s.queueOrDropEvent(event)
		}
		l.mu.Unlock()
	}
}

// hasSubscribersElseMarkStopped reports whether there are subscribers. If not, it records that run
// ends, so that the next subscriber starts it again.
func (l *liveOverviewFeed) hasSubscribersElseMarkStopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = len(l.subscribers) > 0
	return l.running
}

// endAllStreams ends the event streams of all subscribers.
func (l *liveOverviewFeed) endAllStreams() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.subscribers {
		l.endStreamLocked(s)
	}
}

// close ends all event streams, and makes addSubscriberOrNil return nil from now on.
func (l *liveOverviewFeed) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.endAllStreams()
}

// endStreamLocked ends the event stream of one subscriber. The caller holds l.mu.
func (l *liveOverviewFeed) endStreamLocked(s *eventStreamSubscriber) {
	if _, there := l.subscribers[s]; there {
		delete(l.subscribers, s)
		close(s.ended)
	}
}

// eventStreamSubscriber is one open event stream. The HTTP library reads the events from it.
type eventStreamSubscriber struct {
	feed         *liveOverviewFeed
	conn         net.Conn
	name         string // the operator's
	isStillValid func() bool
	next         chan []byte
	ended        chan struct{}
	unsent       []byte
}

// queueOrDropEvent queues the subscriber's next event. If the previous event is still queued, it
// drops the new one.
func (s *eventStreamSubscriber) queueOrDropEvent(event []byte) {
	select {
	case s.next <- event:
	default:
	}
}

// Read returns the next bytes of the stream to the HTTP library, and waits for an event if
// necessary. It sets a new write deadline each time, so that a client that stops reading is
// disconnected.
func (s *eventStreamSubscriber) Read(p []byte) (int, error) {
	if len(s.unsent) == 0 {
		select {
		case s.unsent = <-s.next:
		case <-s.ended:
			return 0, io.EOF
		}
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.feed.stallLimit)); err != nil {
		return 0, err
	}
	n := copy(p, s.unsent)
	s.unsent = s.unsent[n:]
	return n, nil
}

// Close ends the stream. The HTTP library calls it when the client has disconnected or the
// stream has ended.
func (s *eventStreamSubscriber) Close() error {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	s.feed.endStreamLocked(s)
	return nil
}

// sendAnswer starts the HTTP answer of the event stream; the library then sends the events.
func (s *eventStreamSubscriber) sendAnswer(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/event-stream")
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.Response.Header.Set("X-Accel-Buffering", "no") // proxies must not buffer
	if !ctx.Request.Header.IsHTTP11() {
		sendStreamOverHTTP10(ctx, s)
		return
	}
	ctx.SetBodyStream(s, -1)
}

// formatServerSentEvent returns a JSON document in the form of a server-sent event with this
// name.
func formatServerSentEvent(eventName string, jsonDocument []byte) []byte {
	event := append([]byte("event: "+eventName+"\ndata: "), bytes.TrimRight(jsonDocument, "\n")...)
	return append(event, "\n\n"...)
}

// streamedBody is the body of an answer that is encoded while it is sent. So a statement of
// a million entries needs memory for a few hundred, and a client that disconnects ends the
// reading.
//
// After an error of reading the rows, or when the caller's access has ended, Read returns an error, and
// the connection closes, because a partial answer must not look complete.
type streamedBody struct {
	conn    net.Conn
	kind    string // content type
	lines   rowEncoder
	logger  *slog.Logger
	release func() // releases the slot

	isCallerValid func() bool // whether the caller may still read; nil: always

	buf  []byte // encoded bytes, of which the first sent bytes are sent
	sent int
	end  error // after buf: io.EOF or the error
}

// rowEncoder encodes the rows of a large answer one after the other for a streamedBody.
type rowEncoder interface {
	// appendNextRows appends the next row. After the last row it appends the end of the document
	// and returns io.EOF.
	appendNextRows(dst []byte) ([]byte, error)
	Close()
}

// streamedPiece is about how many bytes of a streamed answer are encoded at a time.
const streamedPiece = 32 << 10

func newStreamedBody(conn net.Conn, mediaType string, rows rowEncoder, logger *slog.Logger) *streamedBody {
	return &streamedBody{conn: conn, kind: mediaType, lines: rows, logger: logger, release: func() {}, buf: make([]byte, 0, 2*streamedPiece)}
}

// Read returns the next bytes of the answer to the HTTP library. It encodes more rows when all
// earlier bytes are sent.
func (b *streamedBody) Read(p []byte) (int, error) {
	if b.sent == len(b.buf) {
		if b.end != nil {
			return 0, b.end
		}
		b.encodeMoreRows()
		if len(b.buf) == 0 {
			return 0, b.end
		}
	}
	// The library sets one deadline for the whole answer. This one may take longer, as long
	// as the client reads.
	if err := b.conn.SetWriteDeadline(time.Now().Add(2 * operatorRequestTimeout)); err != nil {
		return 0, err
	}
	n := copy(p, b.buf[b.sent:])
	b.sent += n
	return n, nil
}

// errAccessEnded breaks a streamed answer off.
var errAccessEnded = errors.New("the caller's session, token or account is no longer valid")

func (b *streamedBody) encodeMoreRows() {
	b.buf, b.sent = b.buf[:0], 0
	if b.isCallerValid != nil && !b.isCallerValid() {
		b.logger.Info("a statement, report or export was broken off, because the caller's access has ended")
		b.end = errAccessEnded
		return
	}
	for len(b.buf) < streamedPiece {
		var err error
		b.buf, err = b.lines.appendNextRows(b.buf)
		if errors.Is(err, io.EOF) {
			b.end = io.EOF
			return
		}
		if err != nil {
			b.logger.Error("cannot read the rest of a streamed statement, report, lead export or audit export; the client's connection was closed", "error", err)
			b.buf, b.end = b.buf[:0], err
			return
		}
	}
}

// Close releases the request's slot and closes the rows. The HTTP library calls it when the
// answer is sent or the client has disconnected.
func (b *streamedBody) Close() error {
	b.release()
	b.release = func() {}
	b.lines.Close()
	return nil
}

// sendAnswer starts the HTTP answer; the library then sends the rows.
func (b *streamedBody) sendAnswer(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType(b.kind)
	ctx.Response.Header.Set("Cache-Control", "no-store")
	if !ctx.Request.Header.IsHTTP11() {
		sendStreamOverHTTP10(ctx, b)
		return
	}
	ctx.SetBodyStream(b, -1)
}

// sendStreamOverHTTP10 sends a streamed body to an HTTP/1.0 client, which does not understand chunks:
// the body ends with the connection. It sends the headers that the answer has now. After an error it
// resets the connection, so that the client does not take the part for the whole.
func sendStreamOverHTTP10(ctx *fasthttp.RequestCtx, body io.ReadCloser) {
	ctx.Response.Header.SetConnectionClose()
	head, client := string(ctx.Response.Header.Header()), connection.FromRequest(ctx)
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(conn net.Conn) {
		defer func() { _ = body.Close() }()
		_, err := io.WriteString(conn, head)
		if err == nil {
			_, err = io.Copy(conn, body)
		}
		if err != nil {
			client.Abort()
		}
	})
}
