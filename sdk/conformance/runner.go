package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// caseResult is the result of one case.
type caseResult struct {
	theme, name string
	skipReason  string // reason why it did not run
	wrong       []string
}

// caseRunner runs cases against one SDK.
type caseRunner struct {
	env         *environment
	start       func(context.Context) (*driver, error)
	driver      *driver
	description map[string]any // the driver's description of itself
}

// runCases runs every case. If the driver ends during a case, that case fails, and the driver
// is restarted for the next one.
func runCases(ctx context.Context, w *environment, start func(context.Context) (*driver, error), themes []theme) (results []caseResult, err error) {
	p := &caseRunner{env: w, start: start}
	if err := p.ensureDriver(ctx); err != nil {
		return nil, err
	}
	for _, t := range themes {
		for _, c := range t.Cases {
			for _, v := range p.variants(c) {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				results = append(results, p.runCase(t.Theme, c, v))
				if err := p.ensureDriver(ctx); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := p.driver.stop(); err != nil {
		results = append(results, caseResult{theme: "driver", name: "ends with its input", wrong: []string{err.Error()}})
	}
	return results, nil
}

// ensureDriver starts the driver unless one runs.
func (p *caseRunner) ensureDriver(ctx context.Context) error {
	if p.driver != nil {
		p.driver.mu.Lock()
		isRunning := p.driver.broken == nil
		p.driver.mu.Unlock()
		if isRunning {
			return nil
		}
		_ = p.driver.stop() // the failed case reports its end
	}
	var err error
	if p.driver, err = p.start(ctx); err != nil {
		return err
	}
	answer, err := p.driver.request(map[string]any{"op": "describe"})
	if err != nil {
		return fmt.Errorf("the driver cannot describe itself: %w", err)
	}
	description, _ := valueAt(answer.value, "result")
	var is bool
	if p.description, is = description.(map[string]any); !is {
		return fmt.Errorf("the driver's description is invalid: %s", answer.line)
	}
	return nil
}

// caseVariant is one variant of a case.
type caseVariant struct {
	name  string
	terms variables
}

func (p *caseRunner) variants(c testCase) []caseVariant {
	found := []caseVariant{{"", variables{}}}
	if c.Flavors {
		flavors, _ := p.description["flavors"].([]any)
		found = make([]caseVariant, 0, len(flavors))
		for _, flavor := range flavors {
			found = append(found, caseVariant{fmt.Sprintf(" (%v)", flavor), variables{"flavor": flavor}})
		}
	}
	if len(c.Each) == 0 {
		return found
	}
	var all []caseVariant
	for _, v := range found {
		for _, terms := range c.Each {
			merged := maps.Clone(v.terms)
			maps.Copy(merged, terms)
			all = append(all, caseVariant{strings.TrimSpace(fmt.Sprintf("%v%s", terms["case"], v.name)), merged})
		}
	}
	for i := range all {
		all[i].name = ": " + all[i].name
	}
	return all
}

func (p *caseRunner) runCase(theme string, c testCase, v caseVariant) caseResult {
	result := caseResult{theme: theme, name: c.Name + v.name}
	if c.Needs != "" && !p.supports(c.Needs) {
		result.skipReason = "the SDK has no " + c.Needs
		return result
	}
	p.env.startCase()
	terms := maps.Clone(p.env.variables)
	maps.Copy(terms, v.terms)
	s := &caseRun{caseRunner: p, terms: terms}
	for i, written := range c.Steps {
		if wrong := s.runStep(written); len(wrong) > 0 {
			for _, one := range wrong {
				result.wrong = append(result.wrong, fmt.Sprintf("step %d: %s", i+1, one))
			}
			break
		}
	}
	result.wrong = append(result.wrong, s.finish(len(result.wrong) == 0)...)
	return result
}

// supports reports whether the driver has a method or a feature.
func (p *caseRunner) supports(name string) bool {
	methods, _ := p.description["methods"].([]any)
	features, _ := p.description["features"].([]any)
	return slices.Contains(methods, any(name)) || slices.Contains(features, any(name))
}

// caseRun is a running case.
type caseRun struct {
	*caseRunner
	mu           sync.Mutex
	terms        variables
	personalData []string // personal data of the sent leads
	secrets      []string // credentials of the clients
	servedBuyers []string // buyers to stop at the end
}

// runStep runs one step and returns the differences from the expected result.
func (s *caseRun) runStep(written map[string]any) []string {
	s.mu.Lock()
	filled, err := s.terms.fill(written)
	s.mu.Unlock()
	if err != nil {
		return []string{err.Error()}
	}
	step, err := readStep(filled.(map[string]any))
	if err != nil {
		return []string{err.Error()}
	}
	result, wrong := s.performStep(step)
	if len(wrong) > 0 {
		return wrong
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, path := range step.Save {
		value, there := valueAt(result, path)
		if !there {
			return []string{fmt.Sprintf("cannot save %s: it is missing in %s", path, shortJSON(result))}
		}
		s.terms[name] = value
	}
	return nil
}

// performStep performs a step's action. The result is input for save.
func (s *caseRun) performStep(step *step) (result any, wrong []string) {
	switch {
	case step.Do != nil:
		return s.callDriver(step)
	case step.Raw != nil:
		answer, err := step.Raw.send()
		if err != nil {
			return nil, []string{err.Error()}
		}
		return answer, match("answer", orAny(step.Expect), answer, true)
	case step.Together != nil:
		return nil, s.runConcurrently(step.Together)
	case step.Equal != nil:
		for _, pair := range step.Equal {
			wrong = append(wrong, match("second", pair[0], pair[1], true)...)
		}
		return nil, wrong
	case step.Wait > 0:
		time.Sleep(time.Duration(step.Wait * float64(time.Second)))
	case step.Hook != nil:
		found, err := s.env.hooks.awaitEvent(step.Hook.Type, step.Hook.Lead)
		if err != nil {
			return nil, []string{err.Error()}
		}
		return found, match("hook", orAny(step.Expect), found, true)
	default:
		return s.performProxyStep(step)
	}
	return nil, nil
}

func orAny(expect any) any {
	if expect == nil {
		return "~any"
	}
	return expect
}

// performProxyStep performs a step on a proxy or a gate.
func (s *caseRun) performProxyStep(step *step) (result any, wrong []string) {
	at, known := s.env.proxies["live"], true
	if step.At != "" {
		if at, known = s.env.proxies[step.At]; !known {
			at, known = s.env.gates[step.At]
		}
	}
	if !known {
		return nil, []string{fmt.Sprintf("unknown proxy or gate %q", step.At)}
	}
	switch {
	case step.Fault != nil:
		at.addFaults(step.Fault...)
	case step.Gate != nil:
		at.setTarget(step.Gate.To)
		at.addFaults(step.Gate.Fault...)
	case step.Sent != nil:
		found := at.matching(step.Sent.On)
		return found, step.Sent.check("sent", found)
	default:
		found := at.matching(step.Passed.On)
		return found, step.Passed.check("passed", found)
	}
	return nil, nil
}

// runConcurrently runs several steps at once.
func (s *caseRun) runConcurrently(steps []map[string]any) []string {
	var wait sync.WaitGroup
	found := make([][]string, len(steps))
	for i, written := range steps {
		if request, is := written["do"].(map[string]any); is {
			request["async"] = true
		}
		wait.Go(func() { found[i] = s.runStep(written) })
	}
	wait.Wait()
	var wrong []string
	for i := range found {
		for _, one := range found[i] {
			wrong = append(wrong, fmt.Sprintf("(concurrent step %d) %s", i+1, one))
		}
	}
	return wrong
}

// finish ends a case: it stops the buyers and reports unused faults.
func (s *caseRun) finish(passed bool) (wrong []string) {
	for _, buyer := range s.servedBuyers {
		answer, err := s.driver.request(map[string]any{"op": "buyer.stop", "buyer": buyer})
		if failed, is := answer.value["error"]; err != nil || is {
			wrong = append(wrong, fmt.Sprintf("buyer.stop: %v", errors.Join(err, fmt.Errorf("%s", shortJSON(failed)))))
		}
	}
	if !passed {
		return wrong
	}
	for name, p := range s.env.proxies {
		if n := p.unusedFaults(); n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d faults at %s were not used: the SDK did not send these requests", n, name))
		}
	}
	return wrong
}
