package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"
)

// fault is how a proxy gets in the way of one request, or of some.
type fault struct {
	On      string            `json:"on"`    // method and path that it waits for
	Times   int               `json:"times"` // how many requests it befalls; one by default
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body"` // with a status: the answer, which the exchange never hears of
	Text    *string           `json:"text"` // likewise, as it is
	Drop    string            `json:"drop"` // before the exchange hears of it, or after it has answered
	Delay   float64           `json:"delay_seconds"`
	Set     map[string]any    `json:"set"`    // members of the exchange's answer, by their paths
	Remove  []string          `json:"remove"` // likewise
}

func (f *fault) check() error {
	if f.On == "" || !slices.Contains([]string{"", "before", "after", "${drop}"}, f.Drop) {
		return fmt.Errorf("a fault needs an on, and its drop is before or after")
	}
	return nil
}

// proxy stands between an SDK and an exchange, or between an exchange and an SDK's
// buyer: then it is called a gate. It passes requests on as they are, but for what its
// faults say, and keeps them.
type proxy struct {
	*records
	server *httptest.Server
	client *http.Client

	mu     sync.Mutex
	to     string // where it leads
	faults []*fault
}

func newProxy(to string) *proxy {
	p := &proxy{records: &records{}, to: to, client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	p.server = httptest.NewServer(p)
	return p
}

func (p *proxy) close() {
	p.server.CloseClientConnections()
	p.server.Close()
	p.client.CloseIdleConnections()
}

// lead says where requests go from now on.
func (p *proxy) lead(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = to
}

func (p *proxy) disturb(faults ...*fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, faults...)
}

// reset forgets the case before.
func (p *proxy) reset() {
	p.mu.Lock()
	p.faults = nil
	p.mu.Unlock()
	p.forget()
}

// left are faults that no request has met.
func (p *proxy) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.faults)
}

// next is the fault that befalls this request, and where it goes.
func (p *proxy) next(on string) (fault, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range p.faults {
		if f.On != on {
			continue
		}
		if f.Times--; f.Times <= 0 {
			p.faults = append(p.faults[:i:i], p.faults[i+1:]...)
		}
		return *f, p.to
	}
	return fault{}, p.to
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has gone
	}
	record := p.add(r, body)
	f, to := p.next(r.Method + " " + r.URL.RequestURI())
	if f.Delay > 0 {
		select {
		case <-time.After(time.Duration(f.Delay * float64(time.Second))):
		case <-r.Context().Done():
			return
		}
	}
	if f.Drop == "before" {
		cut(w)
		return
	}
	status, header, answer := f.Status, http.Header{}, []byte(nil)
	if status == 0 {
		status, header, answer, err = p.pass(r, to, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			p.answered(record, http.StatusBadGateway, nil)
			return
		}
	}
	answer = f.change(header, answer)
	p.answered(record, status, answer)
	if f.Drop == "after" {
		cut(w)
		return
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// pass sends the request on and reads the whole answer. What the caller does
// meanwhile is not passed on: who gives up has sent it all the same.
func (p *proxy) pass(r *http.Request, to string, body []byte) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header = r.Header.Clone()
	for _, name := range []string{"Connection", "Transfer-Encoding", "Accept-Encoding"} {
		req.Header.Del(name)
	}
	answer, err := p.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, read, err
}

// change makes the answer of what the exchange has said, or of nothing.
func (f *fault) change(header http.Header, answer []byte) []byte {
	for name, value := range f.Headers {
		header.Set(name, value)
	}
	if f.Text != nil {
		return []byte(*f.Text)
	}
	if f.Body != nil {
		header.Set("Content-Type", "application/json")
		return encode(f.Body)
	}
	value, _ := decode(answer)
	object, is := value.(map[string]any)
	if !is || len(f.Set) == 0 && len(f.Remove) == 0 {
		return answer
	}
	for path, value := range f.Set {
		put(object, path, value)
	}
	for _, path := range f.Remove {
		remove(object, path)
	}
	return encode(object)
}

func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("BUG: a value that is no JSON: " + err.Error())
	}
	return text
}

// cut ends the connection without a word: the caller sees it reset.
func cut(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if tcp, is := connection.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }
