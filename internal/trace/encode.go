package trace

import (
	"encoding/binary"

	"github.com/VictoriaMetrics/easyproto"
)

// Flags of a span.
const (
	flagSampled        = 0x001
	flagHasIsRemote    = 0x100 // flagParentIsRemote is valid
	flagParentIsRemote = 0x200 // the parent belongs to another program
)

// statusError is the status code by which an OpenTelemetry (OTLP) span says that it failed.
const statusError = 2

// encoder encodes traced requests as OpenTelemetry's ExportTraceServiceRequest message. The
// message's field numbers never change.
type encoder struct {
	resource []attribute // identifies this program in all exports
	version  string
	message  easyproto.Marshaler
	spans    []span
}

// encode appends one export message with the spans of all requests to dst.
func (e *encoder) encode(dst []byte, requests []*TracedRequest) []byte {
	e.message.Reset()
	all := e.message.MessageMarshaler().AppendMessage(1)
	encodeAttributes(all.AppendMessage(1), 1, e.resource)
	scoped := all.AppendMessage(2)
	scope := scoped.AppendMessage(1)
	scope.AppendString(1, "pingpost")
	scope.AppendString(2, e.version)
	for _, r := range requests {
		e.spans = r.appendSpans(e.spans[:0])
		for i := range e.spans {
			e.spans[i].encode(scoped.AppendMessage(2), r.RequestTrace.ID[:])
		}
		clear(e.spans)
	}
	return e.message.Marshal(dst)
}

func (s *span) encode(m *easyproto.MessageMarshaler, trace []byte) {
	m.AppendBytes(1, trace)
	m.AppendBytes(2, binary.BigEndian.AppendUint64(nil, s.id))
	flags := uint32(flagSampled | flagHasIsRemote)
	if s.parent != 0 {
		m.AppendBytes(4, binary.BigEndian.AppendUint64(nil, s.parent))
	}
	if s.remote {
		flags |= flagParentIsRemote
	}
	m.AppendString(5, s.name)
	m.AppendInt32(6, int32(s.kind))
	m.AppendFixed64(7, uint64(s.from))
	m.AppendFixed64(8, uint64(max(s.from, s.to)))
	encodeAttributes(m, 9, s.attributes)
	if s.failed {
		m.AppendMessage(15).AppendInt32(3, statusError)
	}
	m.AppendFixed32(16, flags)
}

func encodeAttributes(m *easyproto.MessageMarshaler, field uint32, attributes []attribute) {
	for i := range attributes {
		a := &attributes[i]
		pair := m.AppendMessage(field)
		pair.AppendString(1, a.key)
		value := pair.AppendMessage(2)
		if a.text != "" {
			value.AppendString(1, a.text)
		} else {
			value.AppendInt64(3, a.number)
		}
	}
}
