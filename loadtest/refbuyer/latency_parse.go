package refbuyer

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const latencyForms = "give a time such as 20ms, a range such as 10ms-50ms, exp:MEAN, normal:MEAN,DEVIATION, lognormal:MEDIAN,SIGMA or table:PERCENT=TIME,…, optionally followed by +hang:SHARE"

// ParseLatency parses a distribution:
//
//	20ms                 constant
//	10ms-50ms            uniform
//	exp:20ms             exponential, with this mean
//	normal:20ms,5ms      normal, with this mean and deviation; never below 0
//	lognormal:20ms,0.5   log-normal, with this median and sigma
//	table:50=9ms,99=80ms measured percentiles, linear between them
//	20ms+hang:0.01       any of them; one answer in a hundred never comes
func ParseLatency(text string) (Latency, error) {
	form, tail, hangs := strings.Cut(text, "+")
	latency, err := parseForm(form)
	if err != nil {
		return nil, fmt.Errorf("latency %q: %w", text, err)
	}
	if !hangs {
		return latency, nil
	}
	share, known := strings.CutPrefix(tail, "hang:")
	rate, err := strconv.ParseFloat(share, 64)
	if !known || err != nil || !isShare(rate) {
		return nil, fmt.Errorf("latency %q: after the + give hang: and a share from 0 to 1", text)
	}
	return Hanging{rate, latency}, nil
}

func parseForm(text string) (Latency, error) {
	kind, rest, named := strings.Cut(text, ":")
	switch {
	case !named:
		return parseRange(text)
	case kind == "exp":
		mean, err := parseTime(rest)
		return Exponential{mean}, err
	case kind == "normal":
		return parseNormal(rest)
	case kind == "table":
		return parseTable(rest)
	case kind == "lognormal":
		middle, spread, _ := strings.Cut(rest, ",")
		median, err := parseTime(middle)
		if err != nil {
			return nil, err
		}
		sigma, err := strconv.ParseFloat(spread, 64)
		if err != nil || !(sigma >= 0 && sigma <= maxSigma) {
			return nil, fmt.Errorf("give a sigma from 0 to %d after the median and a comma", maxSigma)
		}
		return LogNormal{median, sigma}, nil
	}
	return nil, fmt.Errorf("unknown distribution %q; %s", kind, latencyForms)
}

const maxSigma = 5

func parseRange(text string) (Latency, error) {
	low, high, spread := strings.Cut(text, "-")
	if !spread {
		high = low
	}
	least, err := parseTime(low)
	if err != nil {
		return nil, err
	}
	most, err := parseTime(high)
	if err != nil {
		return nil, err
	}
	if most < least {
		return nil, fmt.Errorf("give the smaller time first")
	}
	return Uniform{least, most}, nil
}

func parseTime(text string) (time.Duration, error) {
	t, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration; %s", text, latencyForms)
	case t < 0 || t > maxLatency:
		return 0, fmt.Errorf("give times from 0 to %v", maxLatency)
	}
	return t, nil
}
