package refserver

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/internal/must"
)

// open returns a server that delays its answers until it closes, and the result of Serve.
func open(t *testing.T) (s *Server, held chan struct{}, end chan error, stop context.CancelFunc) {
	t.Helper()
	held, end = make(chan struct{}, 8), make(chan error, 1)
	var err error
	s, err = New("127.0.0.1:0", &fasthttp.Server{Handler: func(*fasthttp.RequestCtx) {
		held <- struct{}{}
		<-s.Closing()
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { end <- s.Serve(ctx) }()
	return s, held, end, stop
}

// TestDelayedAnswersAreReleased at the end, for each kind of end.
func TestDelayedAnswersAreReleased(t *testing.T) {
	for what, ends := range map[string]func(s *Server, stop context.CancelFunc){
		"closed":      func(s *Server, _ context.CancelFunc) { _ = s.Close() },
		"sent home":   func(_ *Server, stop context.CancelFunc) { stop() },
		"by two ways": func(s *Server, stop context.CancelFunc) { stop(); _ = s.Close() },
	} {
		s, held, end, stop := open(t)
		answers := make(chan error, 1)
		go func() {
			response, err := http.Post("http://"+s.Addr().String(), "text/plain", strings.NewReader("hello"))
			if err == nil {
				err = response.Body.Close()
			}
			answers <- err
		}()
		<-held
		ends(s, stop)
		if err := <-answers; err != nil {
			t.Errorf("%s: no answer: %v", what, err)
		}
		if err := <-end; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCloseUnserved: Close without Serve releases the address.
func TestCloseUnserved(t *testing.T) {
	s := must.Value(New("127.0.0.1:0", &fasthttp.Server{}))(t)
	if _, err := New(s.Addr().String(), &fasthttp.Server{}); err == nil || !strings.Contains(err.Error(), "cannot listen on") {
		t.Errorf("a second one listens there: %v", err)
	}
	must.Succeed(t, s.Close())
	again := must.Value(New(s.Addr().String(), &fasthttp.Server{}))(t)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
