package load

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const twoAnswers = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nfirst" +
	"HTTP/1.1 429 Too Many Requests\r\ncontent-length:  3\r\nRetry-After: 1\r\n\r\nnot"

// whole returns one response for each Read, like a server that waits for the next
// request.
type whole []string

func (w *whole) Read(p []byte) (int, error) {
	if len(*w) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*w)[0])
	if (*w)[0] = (*w)[0][n:]; (*w)[0] == "" {
		*w = (*w)[1:]
	}
	return n, nil
}

func TestAnswersAreReadOneAfterTheOther(t *testing.T) {
	first, second, _ := strings.Cut(twoAnswers, "firstHTTP")
	responses := func() io.Reader { return &whole{first + "first", "HTTP" + second} }
	for name, from := range map[string]io.Reader{
		"at once":       responses(),
		"byte for byte": iotest.OneByteReader(responses()),
	} {
		t.Run(name, func(t *testing.T) {
			r := answerReader{from: from}
			for _, want := range []struct {
				status int
				body   string
			}{{201, "first"}, {429, "not"}} {
				got, err := r.read()
				if err != nil || got.Status != want.status || string(got.Body) != want.body {
					t.Fatalf("%d %q, %v; want %d %q", got.Status, got.Body, err, want.status, want.body)
				}
				if retry := string(got.Header("retry-after")); (retry == "1") != (want.status == 429) || got.Header("Location") != nil {
					t.Errorf("Retry-After of %d is %q", got.Status, retry)
				}
			}
			if _, err := r.read(); !errors.Is(err, io.EOF) {
				t.Errorf("after the last: %v", err)
			}
		})
	}
}

func TestAnAnswerMayBeLongerThanTheBuffer(t *testing.T) {
	body := strings.Repeat("x", 100_000)
	r := answerReader{from: strings.NewReader("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body)}
	if got, err := r.read(); err != nil || string(got.Body) != body {
		t.Errorf("%d bytes, %v", len(got.Body), err)
	}
}

func TestInvalidAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want error
	}{
		"no length":          {"HTTP/1.1 200 OK\r\nX-Y: z\r\n\r\n", errNoLength},
		"length of a word":   {"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n", errNoLength},
		"length below zero":  {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", errNoLength},
		"another protocol":   {"SMTP ready\r\n\r\n", errNoResponse},
		"status of a word":   {"HTTP/1.1 abc\r\nContent-Length: 0\r\n\r\n", errNoResponse},
		"ends in the header": {"HTTP/1.1 200 OK\r\nContent-", io.EOF},
		"ends in the body":   {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", io.EOF},
		"endless header":     {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxAnswer), errTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			r := answerReader{from: strings.NewReader(test.text)}
			if got, err := r.read(); !errors.Is(err, test.want) {
				t.Errorf("%d %q, %v; want %v", got.Status, got.Body, err, test.want)
			}
		})
	}
}
