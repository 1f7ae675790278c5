package disk

import "golang.org/x/sys/unix"

// networkFS names the file system of a folder when changes made elsewhere cause no events there, or "".
func networkFS(path string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return ""
	}
	return networkKind(uint32(st.Type))
}

func networkKind(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE (a cloud, ssh or container mount)"
	case unix.V9FS_MAGIC:
		return "9P (a virtual machine's shared folder)"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case 0x786f4256:
		return "a VirtualBox shared folder"
	case 0xbacbacbc:
		return "a VMware shared folder"
	}
	return ""
}
