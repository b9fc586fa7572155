// Package tracetest has a collector for tests. It receives OTLP over HTTP on a socket and
// decodes it with OpenTelemetry's own code.
package tracetest

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Collector is a server for tests that receives traces and records them.
type Collector struct {
	URL string

	server   *httptest.Server
	mu       sync.Mutex
	answers  []http.HandlerFunc
	requests int
	bodies   [][]byte
	headers  []http.Header
	spans    []Span
	resource map[string]string
}

// Span is a span that a Collector received, in a form that tests can compare.
type Span struct {
	Trace, ID, Parent string // in hex
	Name              string
	Kind              string // internal, server or client
	From, To          uint64
	Failed            bool
	Remote            bool // the parent belongs to another program
	Attributes        map[string]string
}

// Listen starts a collector on a free port of this machine, and stops it at the end of the
// test. The functions in answers answer the first requests, one each; the Collector only counts
// these. It records the spans of later requests and answers them with status 200.
func Listen(t testing.TB, answers ...http.HandlerFunc) *Collector {
	t.Helper()
	c := &Collector{answers: answers}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.receive(t, w, r) }))
	c.URL = c.server.URL
	t.Cleanup(func() {
		c.server.CloseClientConnections()
		c.server.Close()
	})
	return c
}

func (c *Collector) receive(t testing.TB, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.mu.Lock()
	number := c.requests
	c.requests++
	c.mu.Unlock()
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("the test collector received %s %s with Content-Type %q; expected POST /v1/traces with application/x-protobuf", r.Method, r.URL, r.Header.Get("Content-Type"))
	}
	if number < len(c.answers) {
		c.answers[number](w, r)
		return
	}
	if err := c.decodeAndRecord(body, r.Header); err != nil {
		t.Errorf("the test collector cannot decode the exported spans: %v", err)
	}
}

// decodeAndRecord records the spans of a received export message. It rejects spans with a field that
// OpenTelemetry's definition does not have.
func (c *Collector) decodeAndRecord(body []byte, header http.Header) error {
	var request collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies, c.headers = append(c.bodies, body), append(c.headers, header)
	for _, resource := range request.GetResourceSpans() {
		c.resource = attributeMap(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				if unknown := span.ProtoReflect().GetUnknown(); len(unknown) > 0 {
					number, _, _ := protowire.ConsumeField(unknown)
					return fmt.Errorf("an exported span has field %d, which OpenTelemetry does not define", number)
				}
				c.spans = append(c.spans, newSpan(span))
			}
		}
	}
	return nil
}

var kinds = map[otlp.Span_SpanKind]string{
	otlp.Span_SPAN_KIND_INTERNAL: "internal", otlp.Span_SPAN_KIND_SERVER: "server", otlp.Span_SPAN_KIND_CLIENT: "client",
}

func newSpan(s *otlp.Span) Span {
	return Span{
		Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Name: s.GetName(), Kind: kinds[s.GetKind()], From: s.GetStartTimeUnixNano(), To: s.GetEndTimeUnixNano(),
		Failed:     s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR,
		Remote:     s.GetFlags()&uint32(otlp.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK) != 0,
		Attributes: attributeMap(s.GetAttributes()),
	}
}

func attributeMap(attributes []*common.KeyValue) map[string]string {
	values := make(map[string]string, len(attributes))
	for _, a := range attributes {
		switch value := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			values[a.GetKey()] = value.StringValue
		case *common.AnyValue_IntValue:
			values[a.GetKey()] = fmt.Sprint(value.IntValue)
		default:
			values[a.GetKey()] = fmt.Sprintf("%T", value)
		}
	}
	return values
}

// Spans returns the spans recorded so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Requests returns the number of HTTP requests received so far, including those that a function
// of the test answered.
func (c *Collector) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// Bodies returns the bodies of the export messages recorded so far.
func (c *Collector) Bodies() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.bodies)
}

// Headers returns the HTTP headers of the export messages recorded so far.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Resource returns the attributes of the last export message that identify its sender, such as
// service.name.
func (c *Collector) Resource() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resource
}
