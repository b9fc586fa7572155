package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// heapPath is where the exchange's operator finds the runtime's account of the
// heap, as text.
const heapPath = "/debug/pprof/heap"

// listenInside lets a server of ours tell of its heap what the exchange tells
// of its own.
func listenInside() (addr string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc(heapPath, func(w http.ResponseWriter, _ *http.Request) {
		_ = pprof.Lookup("heap").WriteTo(w, 1) // a reader that is gone needs nothing
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until the process ends
	return listener.Addr().String(), nil
}

// heap is what a process has allocated since it began.
type heap struct{ objects, bytes uint64 }

// allocated asks a server for it.
func (p *process) allocated(ctx context.Context) (h heap, err error) {
	var text bytes.Buffer
	if err := p.fetch(ctx, heapPath+"?debug=1", &text); err != nil {
		return h, err
	}
	return heapOf(text.String())
}

var errHeap = errors.New("the account of the heap is not as expected")

func heapOf(text string) (h heap, err error) {
	figures := map[string]*uint64{"# Mallocs": &h.objects, "# TotalAlloc": &h.bytes}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		figure, wanted := figures[name]
		if !wanted {
			continue
		}
		if *figure, err = strconv.ParseUint(value, 10, 64); err != nil {
			return h, errHeap
		}
		delete(figures, name)
	}
	if len(figures) > 0 {
		return h, errHeap
	}
	return h, nil
}

// fetch reads something that a server tells its operator.
func (p *process) fetch(ctx context.Context, path string, to io.Writer) error {
	return p.operate(ctx, http.MethodGet, path, to)
}

// operate asks a server for something as its operator.
func (p *process) operate(ctx context.Context, method, path string, to io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+p.Admin+path, http.NoBody)
	if err != nil {
		return err
	}
	request.SetBasicAuth("operator", apiKey)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		said, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s %s: status %d: %s", method, path, response.StatusCode, said)
	}
	_, err = io.Copy(to, response.Body)
	return err
}

// profile asks the exchange for a profile of its processor time while it is
// under load, which must last two seconds longer than the profile.
func (b *bench) profile(p *process, path string, load func() error) error {
	done := make(chan error, 1)
	go func() { done <- b.fetchProfile(p, path) }()
	err := load()
	return errors.Join(err, <-done)
}

func (b *bench) fetchProfile(p *process, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	text := bufio.NewWriter(file)
	err = p.fetch(b.ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(b.size.lasting.Seconds())), text)
	return errors.Join(err, text.Flush(), file.Close())
}
