package trial

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// watch asks the exchange for its own figures.
type watch struct {
	admin string
	mu    sync.Mutex
	looks []look
}

// look is what /metrics said at a time after the beginning, by name and labels.
type look struct {
	after  time.Duration
	values map[string]float64
}

// watched are the names of which lines are kept: there may be many thousands.
var watched = []string{
	"pingpost_phase_seconds", "pingpost_leads_total", "pingpost_log_sync_seconds_sum", "pingpost_log_sync_seconds_count",
	"pingpost_open_deliveries", "pingpost_unknown_deliveries", "pingpost_faults_total", "pingpost_webhooks_pending",
	"pingpost_log_bytes", "pingpost_log_sequence",
}

func newWatch(target *Target) *watch { return &watch{admin: strings.TrimRight(target.Admin, "/")} }

// look asks once. Where nobody is to be asked it does nothing.
func (w *watch) look(ctx context.Context, after time.Duration) error {
	if w.admin == "" {
		return nil
	}
	body, err := get(ctx, w.admin+"/metrics")
	if err != nil {
		return err
	}
	defer body.Close()
	values, err := readMetrics(body)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, look{after, values})
	return nil
}

// readMetrics reads Prometheus's text form.
func readMetrics(from io.Reader) (map[string]float64, error) {
	values := map[string]float64{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		for _, name := range watched {
			if !strings.HasPrefix(line, name) {
				continue
			}
			at := strings.LastIndexByte(line, ' ')
			if value, err := strconv.ParseFloat(line[at+1:], 64); err == nil && at > 0 {
				values[line[:at]] = value
			}
			break
		}
	}
	return values, lines.Err()
}

// last is the newest look; its values are nil where nobody was asked.
func (w *watch) last() look {
	if len(w.looks) == 0 {
		return look{}
	}
	return w.looks[len(w.looks)-1]
}

// grown is by how much a figure has grown from the first look to the last.
func (w *watch) grown(name string) (float64, bool) {
	if len(w.looks) < 2 {
		return 0, false
	}
	return w.last().values[name] - w.looks[0].values[name], true
}

// settle waits until no delivery is under way any more.
func (w *watch) settle(ctx context.Context, patience time.Duration) {
	for limit := time.Now().Add(patience); w.admin != "" && time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		before := len(w.looks)
		if w.look(ctx, 0) != nil {
			return
		}
		open := w.last().values["pingpost_open_deliveries"]
		w.looks = w.looks[:before] // its time is not one of the run's
		if open == 0 {
			return
		}
	}
}

// askTime bounds a question to an exchange, a buyer or a receiver.
const askTime = 30 * time.Second

// get asks for a page, of which the status is 200.
func get(ctx context.Context, url string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		cancel()
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		cancel()
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		cancel()
		return nil, fmt.Errorf("%s: status %d", url, response.StatusCode)
	}
	return page{response.Body, cancel}, nil
}

// page is a body whose question ends when it is closed.
type page struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (p page) Close() error {
	p.cancel()
	return p.ReadCloser.Close()
}
