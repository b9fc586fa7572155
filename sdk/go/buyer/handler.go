package buyer

import (
	"io"
	"net/http"
)

// ServeHTTP serves net/http. The endpoint's paths are /v1/ping and /v1/post; below another path
// use http.StripPrefix.
func (b *Buyer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		panic(http.ErrAbortHandler) // the caller has disconnected
	}
	answer := b.Answer(r.Context(), Request{
		Method: r.Method, Path: r.URL.Path,
		Authorization: r.Header.Get("Authorization"),
		APIKey:        r.Header.Get("X-Api-Key"),
		ContentType:   r.Header.Get("Content-Type"),
		Key:           r.Header.Get("Idempotency-Key"),
		RequestID:     r.Header.Get("X-Request-Id"),
		Body:          body,
	})
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-Request-Id", answer.RequestID)
	for name, value := range map[string]string{"Allow": answer.Allow, "WWW-Authenticate": answer.Challenge} {
		if value != "" {
			header.Set(name, value)
		}
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body)
}
