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

// fault is the proxy's interference with one or several requests.
type fault struct {
	On      string            `json:"on"`    // method and path of the requests
	Times   int               `json:"times"` // number of requests; default one
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body"` // with a status: the answer; the exchange does not receive the request
	Text    *string           `json:"text"` // the same, verbatim
	Drop    string            `json:"drop"` // drop the connection before the exchange receives the request, or after it answered
	Delay   float64           `json:"delay_seconds"`
	Set     map[string]any    `json:"set"`    // members of the exchange's answer to set, by path
	Remove  []string          `json:"remove"` // members to remove
}

func (f *fault) check() error {
	if f.On == "" || !slices.Contains([]string{"", "before", "after", "${drop}"}, f.Drop) {
		return fmt.Errorf("a fault needs on; its drop must be before or after")
	}
	return nil
}

// proxy forwards requests between an SDK and the exchange. Between the exchange and an SDK's
// buyer it is called a gate. It applies faults and records the requests.
type proxy struct {
	*requestLog
	server *httptest.Server
	client *http.Client

	mu     sync.Mutex
	target string // URL to forward to
	faults []*fault
}

func newProxy(to string) *proxy {
	p := &proxy{requestLog: &requestLog{}, target: to, client: &http.Client{
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

// setTarget sets the URL to forward to.
func (p *proxy) setTarget(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = to
}

func (p *proxy) addFaults(faults ...*fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, faults...)
}

// reset discards the previous case's records and faults.
func (p *proxy) reset() {
	p.mu.Lock()
	p.faults = nil
	p.mu.Unlock()
	p.forget()
}

// unusedFaults returns the number of faults without a matching request.
func (p *proxy) unusedFaults() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.faults)
}

// nextFault returns the fault for a request, and the URL to forward to.
func (p *proxy) nextFault(on string) (fault, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range p.faults {
		if f.On != on {
			continue
		}
		if f.Times--; f.Times <= 0 {
			p.faults = append(p.faults[:i:i], p.faults[i+1:]...)
		}
		return *f, p.target
	}
	return fault{}, p.target
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has disconnected
	}
	record := p.add(r, body)
	f, to := p.nextFault(r.Method + " " + r.URL.RequestURI())
	if f.Delay > 0 {
		select {
		case <-time.After(time.Duration(f.Delay * float64(time.Second))):
		case <-r.Context().Done():
			return
		}
	}
	if f.Drop == "before" {
		resetConnection(w)
		return
	}
	status, header, answer := f.Status, http.Header{}, []byte(nil)
	if status == 0 {
		status, header, answer, err = p.forward(r, to, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			p.setAnswer(record, http.StatusBadGateway, nil)
			return
		}
	}
	answer = f.changedAnswer(header, answer)
	p.setAnswer(record, status, answer)
	if f.Drop == "after" {
		resetConnection(w)
		return
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// forward sends the request on and reads the whole answer. It continues even if the caller
// disconnects, because the caller has then still sent the request.
func (p *proxy) forward(r *http.Request, to string, body []byte) (int, http.Header, []byte, error) {
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

// changedAnswer applies the fault to the exchange's answer, or creates one.
func (f *fault) changedAnswer(header http.Header, answer []byte) []byte {
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
		setAt(object, path, value)
	}
	for _, path := range f.Remove {
		removeAt(object, path)
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

// resetConnection closes the connection so that the caller sees a reset.
func resetConnection(w http.ResponseWriter) {
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
