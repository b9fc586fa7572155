// Package disk models a disk that may lose everything that was not synced.
//
// It follows the recorded calls of a process (package strace) and keeps two views of a folder.
// The live view includes the page cache, as the process sees it. After each lifetime it is
// compared with the real folder byte by byte, which proves that the model followed correctly.
// The other view is the set of possible contents after a power loss; LosePower draws one of
// them.
//
// # Possible losses
//
// A call certainly has its effect after it returned, and may have it from its start. An fsync
// covers calls that returned before the fsync started, and only after the fsync returned.
//
// For a file, fsync and fdatasync make bytes and size durable, but not its name. Of the later
// writes, each page of 4,096 bytes is present or not on its own, in any order, and may have an
// intermediate version. A page may be torn at any byte. The size is any that the file had, so
// zeros may replace missing pages. sync_file_range makes no promise and has no effect here.
//
// For a directory, fsync makes the entries durable. Later changes are lost in one of three
// ways, drawn for each power loss:
//
//   - Ordered: the changes of all directories form one journal, and its end is lost. A synced
//     change keeps all earlier ones. ext4 and XFS do this.
//   - Scattered: each change is present or not on its own; a rename is one change. btrfs and
//     f2fs may do this, where fsync writes a log for the synced file.
//   - Twice: as scattered, and a rename may have created the new name without removing the old
//     one, as with soft updates (UFS).
//
// Left out, with the reason: a rename of which only the removal arrived, because no respectable
// file system does that; blocks of deleted files in place of zeros, which data=writeback shows;
// and flipped bits, which are no power loss.
package disk
