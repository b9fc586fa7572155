// Package seller has the commands of a supplier: send leads from a file, ping for a bid,
// and post a lead at a bid.
package seller

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
)

// SendCommand sends a file of leads and prints a summary of the results.
type SendCommand struct {
	client.TrustedCAFlag
	File        string  `arg:"" help:"File with one JSON object a line; - is standard input."`
	To          string  `default:"http://127.0.0.1:8080" placeholder:"URL" help:"The exchange's address (${default})."`
	APIKey      string  `required:"true" name:"api-key" env:"PINGPOST_API_KEY" placeholder:"KEY" help:"The supplier's API key; better in the environment variable PINGPOST_API_KEY."`
	Rate        float64 `default:"0" placeholder:"NUMBER" help:"Leads a second; 0 sends as fast as --concurrency allows (${default})."`
	Concurrency int     `default:"16" placeholder:"NUMBER" help:"Highest number of concurrent requests (${default})."`
	Idempotency bool    `default:"true" negatable:"" help:"Send an Idempotency-Key with each lead, made from the line and its number (on; --no-idempotency turns it off)."`
	Out         string  `type:"path" placeholder:"FILE" help:"Write each answer to this file, one JSON object a line, without the leads."`
}

// Help returns the text that --help shows after the usage line.
func (*SendCommand) Help() string {
	return `The command retries a 429, a 5xx and a failed connection after 1, 2, 4, 8 and 16
seconds, or after Retry-After; other answers are final. Every attempt of a line has
the same idempotency key, so sending a file again sells no lead twice: the exchange
repeats its first answer. Without keys, the command retries only a 429 and a
connection that could not be made, because the exchange certainly has no such lead.

Latency counts from the time when a line was due by --rate to its final answer, so it
includes waiting for a slow exchange. After Ctrl-C, the command waits for the requests
in progress and prints the summary. A second Ctrl-C ends it at once.

The exit code is 1 if a line has no final answer or every lead was rejected, otherwise
it is 0.`
}

// maxSentLine bounds a line of the file.
const maxSentLine = 1 << 20

// Run sends the leads of the file and prints the summary.
func (c *SendCommand) Run(ctx context.Context) error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	in := os.Stdin
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	out, err := c.createAnswerFile()
	if err != nil {
		return err
	}
	transport, err := c.NewTransport()
	if err != nil {
		return err
	}
	s := newLeadSender(c.To, c.APIKey, c.Concurrency, transport)
	s.rate, s.keyed = c.Rate, c.Idempotency
	summary := newSendSummary()
	shown, total := terminal.NewProgress(os.Stderr), int64(0)
	if shown.HasTerminal() && c.File != "-" {
		total = countNonBlankLines(c.File)
	}
	var readErr error
	sentAll := false
	took := s.sendLines(ctx, withEndFlag(nonBlankLines(in, &readErr), &sentAll), func(a *lineSendResult) {
		summary.add(a)
		out.add(a)
		shown.ShowPercentAndTimeLeft(summary.String(), int64(summary.sent), total)
	})
	shown.End()
	fmt.Print(summary.formatTable(took))
	err = errors.Join(readErr, out.flushAndClose())
	if err == nil && !sentAll {
		err = errors.New("interrupted; the remaining lines of the file were not sent")
	}
	if err == nil && (summary.lost > 0 || summary.sent > 0 && summary.refused == summary.sent) {
		return terminal.ExitCodeError(1)
	}
	return err
}

func (c *SendCommand) checkFlags() error {
	to, err := url.Parse(c.To)
	if err != nil || to.Host == "" || (to.Scheme != "http" && to.Scheme != "https") {
		return fmt.Errorf("--to %q is not an address; write for example http://127.0.0.1:8080", c.To)
	}
	if !(c.Rate >= 0 && c.Rate <= 1e6) {
		return fmt.Errorf("--rate %v: give a number from 0 to 1000000", c.Rate)
	}
	if c.Concurrency < 1 || c.Concurrency > 10_000 {
		return fmt.Errorf("--concurrency %d: give a number from 1 to 10000", c.Concurrency)
	}
	return nil
}

func (c *SendCommand) createAnswerFile() (writerOrNil *answerFileWriter, err error) {
	if c.Out == "" {
		return nil, nil // a nil answerFileWriter ignores answers
	}
	file, err := os.Create(c.Out)
	if err != nil {
		return nil, fmt.Errorf("cannot create the file of --out: %w", err)
	}
	return newAnswerFileWriter(file), nil
}

// numberedLine is a line of the input file, with one lead. Blank lines count in the numbers but
// are not sent.
type numberedLine struct {
	number int // from 1
	text   []byte
}

// countNonBlankLines returns the number of leads in a file, for the progress line. It returns 0 if
// the file cannot be read to its end, or is no regular file, such as a pipe that only one reader can
// use.
func countNonBlankLines(path string) (count int64) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	var readErr error
	for range nonBlankLines(file, &readErr) {
		count++
	}
	if readErr != nil {
		return 0
	}
	return count
}

// withEndFlag returns the lines, and sets reachedEnd once the caller has taken all of them.
func withEndFlag(lines iter.Seq[numberedLine], reachedEnd *bool) iter.Seq[numberedLine] {
	return func(yield func(numberedLine) bool) {
		for line := range lines {
			if !yield(line) {
				return
			}
		}
		*reachedEnd = true
	}
}

// nonBlankLines returns the lines of the input that are not blank. It sets readErr if it cannot read
// the input to its end.
func nonBlankLines(in io.Reader, readErr *error) iter.Seq[numberedLine] {
	return func(yield func(numberedLine) bool) {
		scanner := bufio.NewScanner(in)
		scanner.Buffer(make([]byte, 64<<10), maxSentLine)
		number := 0
		for scanner.Scan() {
			number++
			text := bytes.TrimSpace(scanner.Bytes())
			if len(text) > 0 && !yield(numberedLine{number, bytes.Clone(text)}) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			*readErr = fmt.Errorf("cannot read line %d of the input: %w", number+1, err)
		}
	}
}
