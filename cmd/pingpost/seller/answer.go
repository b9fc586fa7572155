package seller

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// lineSendResult is the result of sending one line (lead) of the input file, after all attempts.
type lineSendResult struct {
	line  int
	tries int
	took  time.Duration // from the line's due time to the end of its last attempt

	err        error // no answer came, or the answer is not from a pingpost exchange
	unreached  bool  // and the request certainly did not arrive
	status     int
	retryAfter time.Duration // below zero: no Retry-After
	replayed   bool
	requestID  string
	body       []byte

	lead  leadStatusAndPrice // of a 201
	fault string             // the error code of a rejection
}

// leadStatusAndPrice is the lead in a successful answer (HTTP 201), whether sold or not.
type leadStatusAndPrice struct {
	Status string    `json:"status"`
	Reason string    `json:"reason"`
	Price  priceJSON `json:"price"`
}

const (
	statusAccepted  = "ACCEPTED"
	statusUnmatched = "UNMATCHED"
)

// parseResponse stores the exchange's response in a. A 2xx answer without a lead's status is
// an error, because it is not from a pingpost exchange.
func (a *lineSendResult) parseResponse(res *http.Response, body []byte) {
	a.status, a.body = res.StatusCode, body
	a.requestID = res.Header.Get("X-Request-Id")
	a.replayed = res.Header.Get("Idempotent-Replayed") == "true"
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		a.retryAfter = time.Duration(min(seconds, 86_400)) * time.Second
	}
	if a.status/100 != 2 {
		var rejected struct {
			Error string `json:"error"`
		}
		_ = json.Unmarshal(body, &rejected)
		a.fault = cmp.Or(rejected.Error, "status "+strconv.Itoa(a.status))
		return
	}
	var answer struct {
		Data leadStatusAndPrice `json:"data"`
	}
	err := json.Unmarshal(body, &answer)
	if a.lead = answer.Data; err == nil && a.lead.Status != statusAccepted && a.lead.Status != statusUnmatched {
		err = errors.New("the body's data.status is neither ACCEPTED nor UNMATCHED")
	}
	if err != nil {
		a.err = fmt.Errorf("the HTTP %d answer is not from a pingpost exchange: %w", a.status, err)
	}
}

// isFinal reports whether the answer is final, so that another attempt would get the same
// one.
func (a *lineSendResult) isFinal() bool {
	return a.err == nil && a.status != http.StatusTooManyRequests && a.status < 500
}

// answerFileWriter is the file of --out, which gets every answer as a line of JSON. A nil
// answerFileWriter writes nothing.
type answerFileWriter struct {
	file io.WriteCloser
	out  *bufio.Writer
	json *json.Encoder
	err  error
}

func newAnswerFileWriter(file io.WriteCloser) *answerFileWriter {
	out := bufio.NewWriter(file)
	return &answerFileWriter{file: file, out: out, json: json.NewEncoder(out)}
}

// answerFileRecord is the answer to one line of the input, as answerFileWriter writes it.
type answerFileRecord struct {
	Line      int             `json:"line"`
	Status    int             `json:"status,omitempty"`
	Tries     int             `json:"tries"`
	Millis    float64         `json:"milliseconds"`
	Replayed  bool            `json:"replayed,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	Error     string          `json:"error,omitempty"`
}

func (f *answerFileWriter) add(a *lineSendResult) {
	if f == nil || f.err != nil {
		return
	}
	record := answerFileRecord{
		Line: a.line, Status: a.status, Tries: a.tries, Millis: float64(a.took.Microseconds()) / 1000,
		Replayed: a.replayed, RequestID: a.requestID,
	}
	if json.Valid(a.body) {
		record.Answer = a.body
	}
	if a.err != nil {
		record.Error = a.err.Error()
	}
	f.err = f.json.Encode(record)
}

func (f *answerFileWriter) flushAndClose() error {
	if f == nil {
		return nil
	}
	if err := errors.Join(f.err, f.out.Flush(), f.file.Close()); err != nil {
		return fmt.Errorf("cannot write all answers to the file of --out: %w", err)
	}
	return nil
}
