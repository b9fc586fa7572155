package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// fakeSDK is a driver with a minimal SDK. It implements the cases of TestMistakes; each mistake
// makes it do one thing wrong.
type fakeSDK struct {
	mistake string
	dead    bool

	mu      sync.Mutex
	clients map[string]map[string]any
	tokens  map[string]string
	buyer   *httptest.Server
	answers map[string]string // of the buyer, by key
	posts   int
}

func (n *fakeSDK) start(context.Context) (*driver, error) {
	fromSuite, in := io.Pipe()
	out, toSuite := io.Pipe()
	n.clients, n.tokens, n.answers = map[string]map[string]any{}, map[string]string{}, map[string]string{}
	go func() {
		lines := bufio.NewScanner(fromSuite)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			request, _ := decode(lines.Bytes())
			n.serve(request.(map[string]any), toSuite)
			if n.dead {
				break
			}
		}
		_ = toSuite.Close()
		_, _ = io.Copy(io.Discard, fromSuite)
	}()
	d := newDriver(in, out)
	d.stop = func() error { return in.Close() }
	return d, nil
}

func (n *fakeSDK) serve(request map[string]any, out io.Writer) {
	answer := map[string]any{}
	switch request["op"] {
	case "describe":
		answer["result"] = map[string]any{"flavors": []string{"only"}, "methods": []string{"ingest_lead"}}
	case "client.new":
		n.clients[request["client"].(string)] = request
		answer["result"] = map[string]any{}
	case "call":
		if n.dead = n.mistake == "dies"; n.dead {
			return
		}
		answer = n.call(request)
	case "webhook.verify":
		answer = n.verify(request)
	case "buyer.serve":
		n.buyer = httptest.NewServer(http.HandlerFunc(n.sell))
		answer["result"] = map[string]any{"url": n.buyer.URL}
	case "buyer.received":
		answer["result"] = map[string]any{"post_calls": n.posts, "posts": make([]any, n.posts)}
	case "buyer.stop":
		n.buyer.Close()
		answer["result"] = map[string]any{}
	default:
		answer["result"] = map[string]any{}
	}
	if n.mistake == "chats" {
		fmt.Fprintln(out, "now answering")
	}
	answer["id"] = request["id"]
	_, _ = out.Write(append(encode(answer), '\n'))
}

func (n *fakeSDK) call(request map[string]any) map[string]any {
	client := n.clients[request["client"].(string)]
	path := map[any]string{"ingest_lead": "/api/v1/ingest", "send_ping": "/v1/ping"}[request["method"]]
	body := encode(request["body"])
	key, given := request["idempotency_key"].(string)
	if !given {
		key = n.key()
	}
	var slept []any
	for try := 0; ; try++ {
		if n.mistake == "other bytes" && try > 0 {
			body = append(body, ' ')
		}
		if n.mistake == "a key for each try" && try > 0 {
			key = n.key()
		}
		status, header, text, err := n.send(client, path, key, body)
		if err == nil && status < 300 {
			return map[string]any{"slept": slept, "result": n.result(status, header, text, key)}
		}
		again := err != nil || status >= 500 || status == 429 || n.mistake == "tries all again" && try == 0
		if n.mistake == "never tries again" || try == 5 || !again {
			return map[string]any{"slept": slept, "error": n.failure(request, client, status, text, key)}
		}
		slept = append(slept, n.wait(try, header))
	}
}

func (n *fakeSDK) key() string {
	unique, _ := variables{}.fill("a-key-${unique}")
	return unique.(string)
}

func (n *fakeSDK) wait(try int, header http.Header) any {
	seconds := json.Number(fmt.Sprint(1 << try))
	if after := header.Get("Retry-After"); after != "" && n.mistake != "passes over Retry-After" {
		seconds = json.Number(after)
	}
	if n.mistake == "does not wait" {
		return 0.01
	}
	return seconds
}

func (n *fakeSDK) send(client map[string]any, path, key string, body []byte) (int, http.Header, []byte, error) {
	base := client["base_url"].(string)
	header := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}, "User-Agent": {"pingpost-naive"}}
	if apiKey, is := client["api_key"].(string); is {
		header.Set("x-api-key", apiKey)
	} else {
		name := client["client"].(string)
		if n.tokens[name] == "" || n.mistake == "a token for each call" {
			_, _, text, err := plainly(base+"/oauth/token", http.Header{"Content-Type": {"application/json"}, "User-Agent": {"pingpost-naive"}}, encode(map[string]any{
				"grant_type": "client_credentials", "client_id": client["client_id"], "client_secret": client["client_secret"],
			}))
			if err != nil {
				return 0, nil, nil, err
			}
			token, _ := decode(text)
			value, _ := valueAt(token, "access_token")
			n.tokens[name], _ = value.(string)
		}
		header.Set("Authorization", "Bearer "+n.tokens[name])
	}
	return plainly(base+path, header, body)
}

func plainly(url string, header http.Header, body []byte) (int, http.Header, []byte, error) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header = header
	answer, err := rawClient.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, text, err
}

func (n *fakeSDK) result(status int, header http.Header, text []byte, key string) map[string]any {
	body, _ := decode(text)
	object := body.(map[string]any)
	switch n.mistake {
	case "null is absent":
		if data, is := object["data"].(map[string]any); is {
			maps.DeleteFunc(data, func(_ string, value any) bool { return value == nil })
		}
	case "absent is null":
		if data, is := object["data"].(map[string]any); is && data["price"] == nil {
			data["price"] = nil
		}
	case "money as float32":
		if amount, there := valueAt(object, "data.price.amount"); there {
			float, _ := amount.(json.Number).Float64()
			setAt(object, "data.price.amount", float32(float))
		}
	}
	return map[string]any{
		"status": status, "body": object, "request_id": header.Get("X-Request-Id"), "idempotency_key": key,
		"replayed": header.Get("Idempotent-Replayed") == "true" && n.mistake != "hides replays",
	}
}

func (n *fakeSDK) failure(request, client map[string]any, status int, text []byte, key string) map[string]any {
	if status == 0 {
		return map[string]any{"kind": "transport", "idempotency_key": key}
	}
	body, _ := decode(text)
	said, _ := body.(map[string]any)
	e := map[string]any{
		"kind": "api", "status": status, "code": said["error"], "message": said["message"], "request_id": said["request_id"],
		"idempotency_key": key, "field_errors": said["field_errors"],
	}
	switch n.mistake {
	case "tells its key":
		e["message"] = fmt.Sprint("refused to ", client["api_key"])
	case "tells the lead":
		e["message"] = fmt.Sprint("cannot send ", request["body"])
	case "loses the key":
		delete(e, "idempotency_key")
	}
	return e
}

func (n *fakeSDK) verify(request map[string]any) map[string]any {
	body, _ := base64.StdEncoding.DecodeString(request["body_base64"].(string))
	event, _ := decode(body)
	taken := map[string]any{"result": map[string]any{"event": event}}
	if n.mistake == "verifies nothing" {
		return taken
	}
	refused := map[string]any{"error": map[string]any{"kind": "signature"}}
	signature := ""
	for name, value := range request["headers"].(map[string]any) {
		if strings.EqualFold(name, "X-Pingpost-Signature") {
			signature = value.(string)
		}
	}
	at, sum, _ := strings.Cut(strings.TrimPrefix(signature, "t="), ",v1=")
	now, _ := request["now"].(json.Number).Int64()
	var then int64
	_, _ = fmt.Sscan(at, &then)
	if away := now - then; (away > 300 || away < -300) && n.mistake != "has no clock" {
		return refused
	}
	for _, secret := range request["secrets"].([]any) {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret.(string), "whsec_"))
		h := hmac.New(sha256.New, key)
		fmt.Fprintf(h, "%s.%s", at, body)
		if hex.EncodeToString(h.Sum(nil)) == sum {
			return taken
		}
	}
	return refused
}

// sell serves the posts to a buyer's endpoint.
func (n *fakeSDK) sell(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	answer, known := n.answers[key]
	if !known || n.mistake == "takes a post twice" {
		n.posts++
		answer = `{"lead_id": "B-1"}`
		n.answers[key] = answer
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "req_1")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
}
