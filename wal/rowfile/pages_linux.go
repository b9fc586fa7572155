package rowfile

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePageBytes is the size of a huge page on most systems.
const hugePageBytes = 2 << 20

// useHugePages asks the system to use huge pages for the memory, which has not been written yet. Without huge pages
// a lookup takes longer, so an error has no other effect.
func useHugePages(memory []uint16) { advise(memory, unix.MADV_HUGEPAGE) }

// useSmallPages tells the system to use small pages for the memory from now on, whatever the Go runtime uses it for.
// Otherwise, when the runtime returns a part of a huge page to the system, the system could give it the whole page again.
func useSmallPages(memory []uint16) { advise(memory, unix.MADV_NOHUGEPAGE) }

// advise gives the system advice on the huge pages that are completely in the memory.
func advise(memory []uint16, advice int) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(memory))), 2*len(memory))
	begin := int(-uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) % hugePageBytes)
	if length := (len(bytes) - begin) / hugePageBytes * hugePageBytes; length > 0 {
		_ = unix.Madvise(bytes[begin:begin+length], advice)
	}
}
