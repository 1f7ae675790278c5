package disk

import "time"

// Born is when a file was created, as far as the system tells: ok is false where it does not, and for names that are no
// file of the vault. A program that saves by writing a new file and renaming it, as vaultflow does, makes the file new.
// Nothing of the content is read.
func (v *Vault) Born(name string) (t time.Time, ok bool) {
	file, err := v.OpenFile(name)
	if err != nil {
		return time.Time{}, false
	}
	defer file.Close()
	return born(file)
}
