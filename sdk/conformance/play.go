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

// verdict is what one case came to.
type verdict struct {
	theme, name string
	passedOver  string // why it was not tried
	wrong       []string
}

// player plays cases to one SDK.
type player struct {
	w      *world
	start  func(context.Context) (*driver, error)
	driver *driver
	about  map[string]any // what the driver has said of itself
}

// playAll plays every case. A driver that ends in the middle of one has failed it, and is
// started again for the next.
func playAll(ctx context.Context, w *world, start func(context.Context) (*driver, error), themes []theme) (verdicts []verdict, err error) {
	p := &player{w: w, start: start}
	if err := p.revive(ctx); err != nil {
		return nil, err
	}
	for _, t := range themes {
		for _, c := range t.Cases {
			for _, v := range p.variants(c) {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				verdicts = append(verdicts, p.play(t.Theme, c, v))
				if err := p.revive(ctx); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := p.driver.end(); err != nil {
		verdicts = append(verdicts, verdict{theme: "driver", name: "ends with its input", wrong: []string{err.Error()}})
	}
	return verdicts, nil
}

// revive starts the driver where none runs.
func (p *player) revive(ctx context.Context) error {
	if p.driver != nil {
		p.driver.mu.Lock()
		well := p.driver.broken == nil
		p.driver.mu.Unlock()
		if well {
			return nil
		}
		_ = p.driver.end() // how it ended is said by the case that it ended in
	}
	var err error
	if p.driver, err = p.start(ctx); err != nil {
		return err
	}
	answer, err := p.driver.ask(map[string]any{"op": "describe"})
	if err != nil {
		return fmt.Errorf("the driver does not describe itself: %w", err)
	}
	about, _ := dig(answer.value, "result")
	var is bool
	if p.about, is = about.(map[string]any); !is {
		return fmt.Errorf("the driver does not describe itself: %s", answer.line)
	}
	return nil
}

// variant is one way in which a case is played.
type variant struct {
	name  string
	terms variables
}

func (p *player) variants(c story) []variant {
	found := []variant{{"", variables{}}}
	if c.Flavors {
		flavors, _ := p.about["flavors"].([]any)
		found = make([]variant, 0, len(flavors))
		for _, flavor := range flavors {
			found = append(found, variant{fmt.Sprintf(" (%v)", flavor), variables{"flavor": flavor}})
		}
	}
	if len(c.Each) == 0 {
		return found
	}
	var all []variant
	for _, v := range found {
		for _, terms := range c.Each {
			merged := maps.Clone(v.terms)
			maps.Copy(merged, terms)
			all = append(all, variant{strings.TrimSpace(fmt.Sprintf("%v%s", terms["case"], v.name)), merged})
		}
	}
	for i := range all {
		all[i].name = ": " + all[i].name
	}
	return all
}

func (p *player) play(theme string, c story, v variant) verdict {
	result := verdict{theme: theme, name: c.Name + v.name}
	if c.Needs != "" && !p.knows(c.Needs) {
		result.passedOver = "the SDK has no " + c.Needs
		return result
	}
	p.w.reset()
	terms := maps.Clone(p.w.terms)
	maps.Copy(terms, v.terms)
	s := &scene{player: p, terms: terms}
	for i, written := range c.Steps {
		if wrong := s.take(written); len(wrong) > 0 {
			for _, one := range wrong {
				result.wrong = append(result.wrong, fmt.Sprintf("step %d: %s", i+1, one))
			}
			break
		}
	}
	result.wrong = append(result.wrong, s.leave(len(result.wrong) == 0)...)
	return result
}

// knows holds for a method that call knows, and for a feature that the driver has.
func (p *player) knows(name string) bool {
	methods, _ := p.about["methods"].([]any)
	features, _ := p.about["features"].([]any)
	return slices.Contains(methods, any(name)) || slices.Contains(features, any(name))
}

// scene is one case that is being played.
type scene struct {
	*player
	mu      sync.Mutex
	terms   variables
	person  []string // what tells who the leads are that were sent
	secrets []string // what the clients show
	served  []string // buyers that have to be stopped at the end
}

// take takes one step, and says what did not come out as expected.
func (s *scene) take(written map[string]any) []string {
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
	came, wrong := s.perform(step)
	if len(wrong) > 0 {
		return wrong
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, path := range step.Save {
		value, there := dig(came, path)
		if !there {
			return []string{fmt.Sprintf("there is no %s to save, in %s", path, show(came))}
		}
		s.terms[name] = value
	}
	return nil
}

// perform does what a step is there for. What came of it is what save looks into.
func (s *scene) perform(step *step) (came any, wrong []string) {
	switch {
	case step.Do != nil:
		return s.do(step)
	case step.Raw != nil:
		answer, err := step.Raw.send()
		if err != nil {
			return nil, []string{err.Error()}
		}
		return answer, match("answer", orAny(step.Expect), answer, true)
	case step.Together != nil:
		return nil, s.together(step.Together)
	case step.Equal != nil:
		for _, pair := range step.Equal {
			wrong = append(wrong, match("second", pair[0], pair[1], true)...)
		}
		return nil, wrong
	case step.Wait > 0:
		time.Sleep(time.Duration(step.Wait * float64(time.Second)))
	case step.Hook != nil:
		found, err := s.w.hooks.await(step.Hook.Type, step.Hook.Lead)
		if err != nil {
			return nil, []string{err.Error()}
		}
		return found, match("hook", orAny(step.Expect), found, true)
	default:
		return s.atProxy(step)
	}
	return nil, nil
}

func orAny(expect any) any {
	if expect == nil {
		return "~any"
	}
	return expect
}

// atProxy are the steps that concern a proxy or a gate.
func (s *scene) atProxy(step *step) (came any, wrong []string) {
	at, known := s.w.proxies["live"], true
	if step.At != "" {
		if at, known = s.w.proxies[step.At]; !known {
			at, known = s.w.gates[step.At]
		}
	}
	if !known {
		return nil, []string{fmt.Sprintf("there is no proxy and no gate %q", step.At)}
	}
	switch {
	case step.Fault != nil:
		at.disturb(step.Fault...)
	case step.Gate != nil:
		at.lead(step.Gate.To)
		at.disturb(step.Gate.Fault...)
	case step.Sent != nil:
		found := at.of(step.Sent.On)
		return found, step.Sent.judge("sent", found)
	default:
		found := at.of(step.Passed.On)
		return found, step.Passed.judge("passed", found)
	}
	return nil, nil
}

// together takes several steps side by side.
func (s *scene) together(steps []map[string]any) []string {
	var wait sync.WaitGroup
	found := make([][]string, len(steps))
	for i, written := range steps {
		if request, is := written["do"].(map[string]any); is {
			request["async"] = true
		}
		wait.Go(func() { found[i] = s.take(written) })
	}
	wait.Wait()
	var wrong []string
	for i := range found {
		for _, one := range found[i] {
			wrong = append(wrong, fmt.Sprintf("(%d of those together) %s", i+1, one))
		}
	}
	return wrong
}

// leave ends a case: its buyers are stopped, and no fault may be left that nobody met.
func (s *scene) leave(well bool) (wrong []string) {
	for _, buyer := range s.served {
		answer, err := s.driver.ask(map[string]any{"op": "buyer.stop", "buyer": buyer})
		if failed, is := answer.value["error"]; err != nil || is {
			wrong = append(wrong, fmt.Sprintf("buyer.stop: %v", errors.Join(err, fmt.Errorf("%s", show(failed)))))
		}
	}
	if !well {
		return wrong
	}
	for name, p := range s.w.proxies {
		if n := p.left(); n > 0 {
			wrong = append(wrong, fmt.Sprintf("the SDK did not send what %d faults at %s were waiting for", n, name))
		}
	}
	return wrong
}
