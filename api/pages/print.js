// Shows the buttons that print the page: without scripts there is none that would do nothing.
for (const button of document.querySelectorAll('button[data-print]')) {
  button.hidden = false
  button.addEventListener('click', () => window.print())
}
