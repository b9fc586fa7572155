package contract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"pingpost/internal/must"
)

// Answers of the admin address are checked against its own document.
func TestCheckAdmin(t *testing.T) {
	json := lines("Content-Type", "application/json")
	ask := func(method, path, body string) *Request { return &Request{method, path, http.Header{}, []byte(body)} }
	for _, row := range []struct {
		what string
		q    *Request
		a    *Answer
		want string // part of the expected finding; empty: none
	}{
		{"an answer", ask("GET", "/admin/v1/hash", ""), &Answer{200, json, []byte(`{"seq":1,"hash":"a"}`)}, ""},
		{"a member that nobody named", ask("GET", "/admin/v1/hash", ""), &Answer{200, json, []byte(`{"seq":1,"hash":"a","more":1}`)}, "more"},
		{"a member that is missing", ask("GET", "/admin/v1/hash", ""), &Answer{200, json, []byte(`{"seq":1}`)}, "hash"},
		{"a status", ask("GET", "/admin/v1/hash", ""), &Answer{204, http.Header{}, nil}, "the status is not documented"},
		{"another type", ask("GET", "/admin/v1/hash", ""), &Answer{200, lines("Content-Type", "text/html"), nil}, "is not documented"},
		{"a header", ask("GET", "/admin/v1/hash", ""), &Answer{200, lines("Content-Type", "application/json", "X-More", "1"), []byte(`{"seq":1,"hash":"a"}`)}, "X-More is not documented"},
		{"a path that nobody named", ask("GET", "/admin/v1/more", ""), &Answer{200, json, []byte(`{}`)}, "no such operation"},
		{"a method that nobody named", ask("POST", "/admin/v1/hash", ""), &Answer{200, json, []byte(`{}`)}, "no such operation"},
		{"a path of nothing", ask("GET", "/admin/v1/more", ""), failed(404, "not_found"), ""},
		{"a path of another address", ask("POST", "/metrics", ""), failed(404, "not_found"), ""},
		{"a 404 of who was let in", &Request{"GET", "/admin/v1/hash", lines("Authorization", "Basic eA=="), nil}, failed(404, "not_found"), "the status is not documented"},
		{"nobody at a path of nothing", ask("GET", "/admin/v1/more", ""), failed(401, "unauthorized", "WWW-Authenticate", "Basic"), ""},
		{"a head", &Request{Method: "HEAD", Path: "/admin/v1/hash"}, &Answer{405, http.Header{}, nil}, ""},
		{"a head of nobody", &Request{Method: "HEAD", Path: "/admin/v1/hash"}, &Answer{401, http.Header{}, nil}, ""},
		{"a head that is answered", &Request{Method: "HEAD", Path: "/admin/v1/hash"}, &Answer{200, http.Header{}, nil}, "no such operation"},
		{"an error of the public addresses", ask("GET", "/admin/v1/returns", ""), failed(422, "post_rejected"), `no error 422 "post_rejected"`},
		{"an error that is another's", ask("GET", "/admin/v1/returns", ""), failed(422, "bid_expired"), `"bid_expired"`},
		{"a body of any type", ask("POST", "/admin/v1/returns/lead_1", `{"approve":true}`), &Answer{204, http.Header{}, nil}, ""},
		{"a body that does not fit", ask("POST", "/admin/v1/returns/lead_1", `{"approve":1}`), &Answer{204, http.Header{}, nil}, "approve"},
		{"no body", ask("POST", "/admin/v1/returns/lead_1", ``), &Answer{204, http.Header{}, nil}, "without its required body"},
		{"no body, which may be", ask("POST", "/admin/v1/suppliers/s/tokens", ``), failed(404, "not_found"), ""},
		{"YAML", ask("PUT", "/admin/v1/config", "a: 1"), &Answer{200, json, []byte(`{"changes":[],"unapplied":[],"warnings":[]}`)}, ""},
		{"an etag that is missing", ask("DELETE", "/admin/v1/config/buyers/b", ""), &Answer{200, json, []byte(`{"changes":[],"unapplied":[],"warnings":[]}`)}, "If-Match is missing"},
	} {
		verdict(t, row.what, Admin().CheckTraffic(row.q, row.a), row.want)
	}
}

// Each path belongs to the document of its address.
func TestOf(t *testing.T) {
	for path, want := range map[string]*Contract{
		"/api/v1/ingest": Public(), "/v1/ping": Public(), "/docs": Public(), "/admin/v1/hash": Admin(), "/readyz": Admin(), "/debug/pprof/heap": Admin(), "/more": nil,
	} {
		if ForPath(path) != want {
			t.Errorf("%s is held against another document", path)
		}
	}
}

// Uploads and event streams are not buffered, and both are checked.
func TestTransportStreams(t *testing.T) {
	told := 0
	more := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPut {
			<-more // the upload continues once its answer was requested
			_, _ = io.Copy(io.Discard, r.Body)
			return
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	client := &http.Client{Transport: &Transport{Base: new(http.Transport), Report: func(error) { told++ }}}
	defer client.CloseIdleConnections()
	from, into := io.Pipe()
	go func() {
		more <- struct{}{}
		_ = into.Close()
	}()
	put := must.Value(http.NewRequest(http.MethodPut, server.URL+"/admin/v1/suppression/dnc", from))(t)
	if response, err := client.Do(put); err != nil || told != 1 {
		t.Fatalf("%v, told %d times of an answer of another type", err, told)
	} else {
		_ = response.Body.Close()
	}
	response, err := client.Get(server.URL + "/admin/v1/live")
	if err != nil || told != 2 { // its headers are missing
		t.Fatalf("%v, told %d times", err, told)
	}
	_ = response.Body.Close()
}
